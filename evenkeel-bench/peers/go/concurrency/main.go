// Command evenkeel-peer runs one experiment on goroutines and prints one JSON line: the seconds of N
// rounds.
//
// Usage: evenkeel-peer BENCH VARIANT MONITORS N. Exit status: 0 with exactly one line; 1 if the run
// failed its own check, with a message on standard error and no line; 2 if the arguments make no
// sense.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

const usage = "usage: evenkeel-peer BENCH VARIANT MONITORS N"

func main() {
	if len(os.Args) != 5 {
		refuse(usage)
	}
	monitors := number(os.Args[3])
	n := number(os.Args[4])
	runtime.GOMAXPROCS(1)
	took, err := run(os.Args[1], os.Args[2], int(monitors), n)
	if err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer: check failed: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("{\"seconds\":%.9f}\n", took.Seconds())
}

// run makes the rounds of one experiment.
func run(bench, variant string, monitors int, n uint64) (time.Duration, error) {
	switch bench + " " + variant {
	case "ctxswitch task":
		return ctxswitch(1, n)
	case "ctxswitch two-tasks":
		return ctxswitch(2, n)
	case "mutex -":
		return mutex(monitors, n)
	case "schedint waiter":
		return schedint(monitors, n, false)
	case "schedint signaller":
		return schedint(monitors, n, true)
	case "schedext acceptor":
		return schedext(n, false)
	case "schedext caller":
		return schedext(n, true)
	case "creation task":
		return creation(n)
	}
	refuse("no such experiment: " + bench + " " + variant)
	return 0, nil
}

func number(text string) uint64 {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		refuse(err.Error())
	}
	return value
}

func refuse(what string) {
	fmt.Fprintf(os.Stderr, "evenkeel-peer: %s\n", what)
	os.Exit(2)
}
