//! Kafka's classes in a process beside: a line of JSON out for each sequence, a line back.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use serde_json::Value;

/// The process. Requests are written by a thread of their own, so that many can be on the way.
pub struct Kafka {
    child: Child,
    requests: Option<Sender<String>>,
    writer: Option<JoinHandle<()>>,
    answers: BufReader<ChildStdout>,
}

impl Kafka {
    /// Starts it; `command` is the program and its arguments.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &[String]) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no command for Kafka's side"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("no pipe to Kafka's side");
        let mut stdin: ChildStdin = child.stdin.take().ok_or_else(missing)?;
        let answers = BufReader::with_capacity(1 << 16, child.stdout.take().ok_or_else(missing)?);
        let (requests, queue) = channel::<String>();
        // Its end closes the pipe, and that ends the process.
        let writer = thread::spawn(move || {
            for line in queue {
                if stdin
                    .write_all(line.as_bytes())
                    .and_then(|()| stdin.flush())
                    .is_err()
                {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            requests: Some(requests),
            writer: Some(writer),
            answers,
        })
    }

    /// Sends a request.
    pub fn send(&self, request: &Value) {
        if let Some(requests) = &self.requests {
            // A broken pipe shows when the answer is read.
            let _ = requests.send(format!("{request}\n"));
        }
    }

    /// The next answer, in the order of the requests: what each operation gave.
    ///
    /// # Errors
    /// The process has ended, or it could not play the sequence.
    pub fn receive(&mut self) -> io::Result<Vec<Value>> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(io::Error::other("Kafka's side has ended"));
        }
        let mut answer: Value = serde_json::from_str(&line)?;
        match answer["ops"].take() {
            Value::Array(ops) => Ok(ops),
            _ => Err(io::Error::other(format!("Kafka's side failed: {line}"))),
        }
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        // Answers that nobody reads any more would keep it from ending by itself.
        let _ = self.child.kill();
        self.requests = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let _ = self.child.wait();
    }
}
