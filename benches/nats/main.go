// Measures NATS JetStream as people would use it in place of a share group: a work queue that one pull consumer drains with
// explicit acknowledgements. The server runs in this process, keeps its stream in files and syncs every write.
//
//	go run . -records 100000 -size 100 -dir DIR
//
// Prints one JSON object.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	stream  = "LOAD"
	subject = "load"
	atOnce  = 500
	// No member waits for this limit: 1,000 in flight, 20 each.
	maxPending = 20_000
	// Each is synced by itself: more of them only wait.
	publishing = 1_024
	patient    = 30 * time.Second
)

type step struct {
	InFlight int     `json:"in_flight"`
	Rate     float64 `json:"rate"`
	P50Ms    float64 `json:"p50_ms"`
	P99Ms    float64 `json:"p99_ms"`
}

type result struct {
	Version     string  `json:"version"`
	Records     int     `json:"records"`
	PublishRate float64 `json:"publish_rate"`
	ConsumeRate float64 `json:"consume_rate"`
	Confirmed   []step  `json:"confirmed"`
}

func main() {
	records := flag.Int("records", 100_000, "how many are drained, and how many again are confirmed one by one")
	size := flag.Int("size", 100, "bytes of each")
	directory := flag.String("dir", "", "where the server keeps its stream")
	flag.Parse()
	found, err := measure(*records, *size, *directory)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(1)
	}
}

func measure(records, size int, directory string) (*result, error) {
	served, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: directory, SyncAlways: true, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return nil, err
	}
	go served.Start()
	defer served.Shutdown()
	if !served.ReadyForConnections(patient) {
		return nil, fmt.Errorf("the server does not listen after %s", patient)
	}
	connection, err := nats.Connect(served.ClientURL())
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	queue, err := connection.JetStream(nats.PublishAsyncMaxPending(publishing))
	if err != nil {
		return nil, err
	}
	if _, err := queue.AddStream(&nats.StreamConfig{
		Name: stream, Subjects: []string{subject}, Storage: nats.FileStorage, Retention: nats.LimitsPolicy,
	}); err != nil {
		return nil, err
	}
	found := &result{Version: server.VERSION, Records: records}
	begun := time.Now()
	value := make([]byte, size)
	for range records {
		if _, err := queue.PublishAsync(subject, value, nats.StallWait(patient)); err != nil {
			return nil, err
		}
	}
	select {
	case <-queue.PublishAsyncComplete():
	case <-time.After(10 * time.Minute):
		return nil, fmt.Errorf("records are not confirmed")
	}
	found.PublishRate = float64(records) / time.Since(begun).Seconds()
	if found.ConsumeRate, err = drain(queue, records); err != nil {
		return nil, err
	}
	for _, inFlight := range []int{1, 64, 1000} {
		one, err := confirm(queue, inFlight, min(records, max(500, 20*inFlight)))
		if err != nil {
			return nil, err
		}
		found.Confirmed = append(found.Confirmed, *one)
	}
	return found, nil
}

// subscribe makes a durable pull consumer of its own from the first record on.
func subscribe(queue nats.JetStreamContext, name string) (*nats.Subscription, error) {
	return queue.PullSubscribe(subject, name, nats.AckExplicit(), nats.DeliverAll(), nats.MaxAckPending(maxPending), nats.AckWait(time.Minute))
}

// drain takes every record, 500 at a time, and acknowledges each without waiting for an answer.
func drain(queue nats.JetStreamContext, records int) (float64, error) {
	member, err := subscribe(queue, "drain")
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	for taken := 0; taken < records; {
		messages, err := member.Fetch(min(atOnce, records-taken), nats.MaxWait(patient))
		if err != nil {
			return 0, err
		}
		for _, message := range messages {
			if err := message.Ack(); err != nil {
				return 0, err
			}
		}
		taken += len(messages)
	}
	return float64(records) / time.Since(begun).Seconds(), nil
}

// confirm acknowledges so many records and waits for the server's answer to each, with so many in flight.
func confirm(queue nats.JetStreamContext, inFlight, records int) (*step, error) {
	member, err := subscribe(queue, fmt.Sprintf("confirm-%d", inFlight))
	if err != nil {
		return nil, err
	}
	held := make(chan *nats.Msg, records)
	for len(held) < records {
		messages, err := member.Fetch(min(atOnce, records-len(held)), nats.MaxWait(patient))
		if err != nil {
			return nil, err
		}
		for _, message := range messages {
			held <- message
		}
	}
	close(held)
	var (
		workers sync.WaitGroup
		lock    sync.Mutex
		failed  error
	)
	waited := make([]time.Duration, 0, records)
	begun := time.Now()
	for range inFlight {
		workers.Go(func() {
			for message := range held {
				sent := time.Now()
				err := message.AckSync()
				took := time.Since(sent)
				lock.Lock()
				if err != nil {
					failed = err
				}
				waited = append(waited, took)
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	seconds := time.Since(begun).Seconds()
	if failed != nil {
		return nil, failed
	}
	sort.Slice(waited, func(a, b int) bool { return waited[a] < waited[b] })
	milliseconds := func(share float64) float64 { return waited[int(float64(len(waited))*share)].Seconds() * 1e3 }
	return &step{InFlight: inFlight, Rate: float64(records) / seconds, P50Ms: milliseconds(0.5), P99Ms: milliseconds(0.99)}, nil
}
