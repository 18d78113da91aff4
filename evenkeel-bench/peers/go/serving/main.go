// Command evenkeel-peer-serving is a server of the suite's experiments `echo`, `http`, `idle` and
// `soak` on Go's own packages `net` and `net/http`.
//
// It answers each line of its input with one JSON line: `address` with its port, `time` with the
// processor time that it has used, `mark` with what it has. It ends with its input. Exit status: 0;
// 1 if it cannot serve, with a message on standard error; 2 if the flags make no sense.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
)

// listening is the answer to `address`.
type listening struct {
	Port int `json:"port"`
}

func main() {
	service := flag.String("service", "echo", "what it does with a connection: echo or http")
	workers := flag.Int("workers", 1, "processors (GOMAXPROCS)")
	buffer := flag.Int("buffer", 16384, "bytes of the buffer of each connection of echo")
	flag.Parse()
	if *workers < 1 || *buffer < 1 || (*service != "echo" && *service != "http") {
		fmt.Fprintln(os.Stderr, "evenkeel-peer-serving: workers and buffer must be 1 or more, service echo or http")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(*workers)
	if err := serve(*service, *buffer); err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer-serving: %v\n", err)
		os.Exit(1)
	}
}

func serve(service string, buffer int) error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if service == "echo" {
		go echo(listener, buffer)
	} else {
		go pages(listener)
	}
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var answer any
		switch line := lines.Text(); line {
		case "address":
			answer = listening{listener.Addr().(*net.TCPAddr).Port}
		case "time":
			if answer, err = used(); err != nil {
				return err
			}
		case "mark":
			if answer, err = marked(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a server does not know %q", line)
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}
