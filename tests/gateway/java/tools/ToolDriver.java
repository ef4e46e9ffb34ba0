import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.utils.Exit;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs Kafka's command-line classes in one JVM, as many at a time as are asked for.
 *
 * A line {"id", "main", "arguments"} starts one; its answer is {"id", "code", "out", "err"} once it has ended. A line {"id"} alone
 * ends it as SIGTERM would: its shutdown hooks run. The program's arguments are the jars with the tools: their classes are loaded
 * afresh for each command, since they keep counts in static fields; the clients beneath them are loaded once and stay warm.
 */
public final class ToolDriver {
    /** Thrown in place of the end of the process. */
    private static final class Ended extends Error {
        private Ended() {
            super("the command has ended", null, false, false);
        }
    }

    /** A command that runs: what it writes, and what it wants done at its end. */
    private static final class Command {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private final List<Thread> hooks = new ArrayList<>();
        private final int id;
        private volatile ClassLoader loader;
        private boolean ended;

        private Command(int id) {
            this.id = id;
        }

        private synchronized void write(ByteArrayOutputStream to, byte[] data, int from, int count) {
            if (!ended) {
                to.write(data, from, count);
            }
        }

        private synchronized void addHook(Thread hook) {
            hooks.add(hook);
        }

        /** Takes over the hooks that the tool has given to the runtime: they have the class loader of its thread. */
        private synchronized void takeRuntimeHooks() throws ReflectiveOperationException {
            for (Thread hook : List.copyOf(runtimeHooks().keySet())) {
                if (loader != null && hook.getContextClassLoader() == loader) {
                    Runtime.getRuntime().removeShutdownHook(hook);
                    hooks.add(hook);
                }
            }
        }

        /** Runs each hook once, and gives up on one that waits for the thread that it is called from. */
        private void runHooks() throws ReflectiveOperationException, InterruptedException {
            List<Thread> due;
            synchronized (this) {
                takeRuntimeHooks();
                due = List.copyOf(hooks);
                hooks.clear();
            }
            for (Thread hook : due) {
                hook.start();
            }
            for (Thread hook : due) {
                hook.join(HOOK_MS);
            }
        }

        /** Only the first end counts: what a tool writes or asks for later it would not have lived to do. */
        private void end(int code) {
            try {
                runHooks();
            } catch (ReflectiveOperationException | InterruptedException failed) {
                failed.printStackTrace();
            }
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
            }
            RUNNING.remove(id);
            ObjectNode answer = JSON.createObjectNode();
            answer.put("id", id).put("code", code);
            answer.put("out", out.toString(StandardCharsets.UTF_8)).put("err", err.toString(StandardCharsets.UTF_8));
            synchronized (ANSWERS) {
                ANSWERS.println(answer);
                ANSWERS.flush();
            }
        }
    }

    /** Writes to the command whose thread, or a thread that it started, is the one that writes. */
    private static final class Routed extends OutputStream {
        private final boolean error;

        private Routed(boolean error) {
            this.error = error;
        }

        @Override
        public void write(int value) {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] data, int from, int count) {
            Command command = CURRENT.get();
            if (command != null) {
                command.write(error ? command.err : command.out, data, from, count);
            }
        }
    }

    private static final long HOOK_MS = 10_000;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream ANSWERS = System.out;
    private static final InheritableThreadLocal<Command> CURRENT = new InheritableThreadLocal<>();
    private static final Map<Integer, Command> RUNNING = new ConcurrentHashMap<>();

    private ToolDriver() {
    }

    public static void main(String[] jars) throws Exception {
        System.setOut(new PrintStream(new Routed(false), true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new Routed(true), true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> endCurrent(code, message));
        Exit.setHaltProcedure((code, message) -> endCurrent(code, message));
        Exit.setShutdownHookAdder((name, action) -> {
            Command command = CURRENT.get();
            if (command != null) {
                command.addHook(new Thread(action, name));
            }
        });
        URL[] tools = new URL[jars.length];
        for (int i = 0; i < jars.length; i++) {
            tools[i] = Path.of(jars[i]).toUri().toURL();
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            int id = asked.get("id").intValue();
            if (asked.has("main")) {
                start(new Command(id), asked, tools);
            } else if (RUNNING.get(id) != null) {
                stop(RUNNING.get(id));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void start(Command command, JsonNode asked, URL[] tools) {
        List<String> arguments = new ArrayList<>();
        asked.get("arguments").forEach(argument -> arguments.add(argument.textValue()));
        RUNNING.put(command.id, command);
        Thread thread = new Thread(() -> {
            CURRENT.set(command);
            try (URLClassLoader loader = new URLClassLoader(tools, ToolDriver.class.getClassLoader())) {
                Thread.currentThread().setContextClassLoader(loader);
                command.loader = loader;
                loader.loadClass(asked.get("main").textValue()).getMethod("main", String[].class)
                    .invoke(null, (Object) arguments.toArray(String[]::new));
                command.end(0);
            } catch (InvocationTargetException thrown) {
                if (!(thrown.getCause() instanceof Ended)) {
                    thrown.getCause().printStackTrace();
                    command.end(1);
                }
            } catch (Exception failed) {
                failed.printStackTrace();
                command.end(-1);
            }
        }, "command-" + command.id);
        thread.setDaemon(true);
        thread.start();
    }

    private static void stop(Command command) {
        Thread thread = new Thread(() -> {
            CURRENT.set(command);
            try {
                command.runHooks();
            } catch (ReflectiveOperationException | InterruptedException failed) {
                failed.printStackTrace();
            }
        }, "stop-" + command.id);
        thread.setDaemon(true);
        thread.start();
    }

    /** Needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}. */
    @SuppressWarnings("unchecked")
    private static Map<Thread, Thread> runtimeHooks() throws ReflectiveOperationException {
        Field hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
        hooks.setAccessible(true);
        return (Map<Thread, Thread>) hooks.get(null);
    }

    private static void endCurrent(int code, String message) {
        Command command = CURRENT.get();
        if (command != null) {
            command.end(code);
        }
        throw new Ended();
    }
}
