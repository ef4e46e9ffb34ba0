// Serves kfake, the fake broker of franz-go, on one port until it is killed: go run . -port 9092 -dir DIR -config NAME=VALUE.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

// settings are the properties of a broker, given one by one.
type settings map[string]string

func (s settings) String() string { return fmt.Sprint(map[string]string(s)) }

func (s settings) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	s[name] = value
	return nil
}

// advertised is a listener that says that it listens elsewhere: at a proxy before it.
type advertised struct {
	net.Listener
	at net.Addr
}

func (a advertised) Addr() net.Addr { return a.at }

func main() {
	configs := settings{}
	port := flag.Int("port", 0, "where to listen on 127.0.0.1; any free port without it")
	dir := flag.String("dir", "", "where the state is kept, written through at every change; in memory without it")
	proxy := flag.String("advertise", "", "where clients are told to connect, HOST:PORT; where it listens without it")
	flag.Var(configs, "config", "a property of the broker, NAME=VALUE; may be given again")
	flag.Parse()

	options := []kfake.Opt{kfake.NumBrokers(1), kfake.Ports(*port), kfake.BrokerConfigs(configs)}
	if *proxy != "" {
		at, err := net.ResolveTCPAddr("tcp", *proxy)
		if err != nil {
			log.Fatal(err)
		}
		options = append(options, kfake.ListenFn(func(network, address string) (net.Listener, error) {
			listener, err := net.Listen(network, address)
			return advertised{listener, at}, err
		}))
	}
	if *dir != "" {
		options = append(options, kfake.DataDir(*dir), kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cluster.ListenAddrs()[0])
	select {}
}
