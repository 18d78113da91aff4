// Command evenkeel-peer-latency makes one run of the suite's experiment `latency` on Go's scheduler
// and prints one JSON line.
//
// Exit status: 0 with exactly one line on standard output; 1 if the run failed its own check, with
// a message on standard error and no line; 2 if the flags make no sense.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// config is the settings of the run, from the flags.
type config struct {
	variant  string
	workers  int
	events   int
	rate     int
	computes int
	compute  time.Duration
	blocks   int
	block    time.Duration
	every    time.Duration
	warmUp   time.Duration
	patience time.Duration
	seed     uint64
}

// result is the printed line.
type result struct {
	Seconds  float64  `json:"seconds"`
	Wakes    delays   `json:"wakes"`
	Spawns   delays   `json:"spawns"`
	SenderUs *float64 `json:"sender_us"`
}

// maxEvents keeps a mistyped number from exhausting the machine's memory.
const maxEvents = 1_000_000

func parse() (config, error) {
	var c config
	var computeUs, blockMs, everyMs, warmUpMs, patienceMs int
	flag.StringVar(&c.variant, "variant", "alone", "load: alone, compute, block-one, block-all or ready")
	flag.IntVar(&c.workers, "workers", 1, "processors (GOMAXPROCS)")
	flag.IntVar(&c.events, "events", 2000, "wakes, and spawns")
	flag.IntVar(&c.rate, "rate", 1000, "wakes, and spawns, per second")
	flag.IntVar(&c.computes, "computes", 0, "goroutines that compute, per second")
	flag.IntVar(&computeUs, "compute-us", 1000, "how long one computes, in microseconds")
	flag.IntVar(&c.blocks, "blocks", 0, "goroutines that block their threads, at the same time")
	flag.IntVar(&everyMs, "block-every-ms", 101, "the time from one that blocks to the next")
	flag.IntVar(&blockMs, "block-ms", 100, "how long one blocks its thread, in milliseconds")
	flag.IntVar(&warmUpMs, "warm-up-ms", 30, "the load alone before the first event")
	flag.IntVar(&patienceMs, "patience-ms", 2000, "how long after the last event a goroutine may run")
	flag.Uint64Var(&c.seed, "seed", 1, "where the random choices begin")
	flag.Parse()
	c.compute = time.Duration(computeUs) * time.Microsecond
	c.block = time.Duration(blockMs) * time.Millisecond
	c.every = time.Duration(max(everyMs, 1)) * time.Millisecond
	c.warmUp = time.Duration(warmUpMs) * time.Millisecond
	c.patience = time.Duration(patienceMs) * time.Millisecond
	if c.workers < 1 || c.rate < 1 || c.events < 1 || c.events > maxEvents {
		return c, fmt.Errorf("workers, rate and events must be 1 or more, and events %d at most", maxEvents)
	}
	switch c.variant {
	case "alone", "compute", "block-one", "block-all", "ready":
		return c, nil
	}
	return c, fmt.Errorf("unknown variant %q", c.variant)
}

func main() {
	cfg, err := parse()
	if err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer-latency: %v\n", err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(cfg.workers)
	printed, err := run(cfg)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(printed)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer-latency: %s, %d workers: %v\n", cfg.variant, cfg.workers, err)
		os.Exit(1)
	}
}
