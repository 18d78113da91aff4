// Command evenkeel-peer runs the suite's actor benchmarks on Go and prints one JSON line for each run.
// An actor is a goroutine with a buffered channel.
//
// Exit status: 0 if every run passed its own check; 1, without a line, if a run failed it; 2 if the
// flags make no sense.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// outcome has the measurements of a run that passed its check. Bytes are nil if they were not
// measured.
type outcome struct {
	actors                           int
	messages                         int
	took                             time.Duration
	bytesPerActor, heapBytesPerActor *float64
}

// line is the output of a run. The names are those of the suite's own records.
type line struct {
	Runtime           string   `json:"runtime"`
	Bench             string   `json:"bench"`
	Workers           int      `json:"workers"`
	Actors            int      `json:"actors"`
	Messages          int      `json:"messages"`
	Seconds           float64  `json:"seconds"`
	BytesPerActor     *float64 `json:"bytes_per_actor"`
	HeapBytesPerActor *float64 `json:"heap_bytes_per_actor"`
	Checked           bool     `json:"checked"`
}

// errMemoryTwice refuses a second measurement of memory.
var errMemoryTwice = errors.New("actor_memory is measured once per process: what the first run left would count as free")

// refused is an error of the flags.
type refused struct{ error }

var benches = map[string]func(settings) (outcome, error){
	"latency_probe": latencyProbe,
	"pingpong":      pingpong,
	"fanin":         fanin,
	"actor_spawn":   actorSpawn,
	"actor_memory":  actorMemory,
}

func main() {
	given, err := defaults().read(os.Args[1:])
	if err == nil {
		runtime.GOMAXPROCS(given.workers)
		err = (&peer{given: given, warm: map[settings]bool{}}).all()
	}
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "evenkeel-peer: %v\n", err)
	if errors.As(err, &refused{}) {
		os.Exit(2)
	}
	os.Exit(1)
}

// peer is the state of the process: the settings that are warm.
type peer struct {
	given          settings
	warm           map[settings]bool
	measuredMemory bool
}

func (p *peer) all() error {
	for rep := 0; rep < p.given.reps; rep++ {
		if err := p.once(p.given); err != nil {
			return err
		}
	}
	if p.given.reps > 0 {
		return nil
	}
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		settings, err := p.given.read(strings.Fields(requests.Text()))
		if err == nil {
			err = settings.sameProcess(p.given)
		}
		if err == nil {
			err = p.once(settings)
		}
		if err != nil {
			return err
		}
	}
	return requests.Err()
}

// once makes one run that counts, after a warm-up run if these settings are new.
func (p *peer) once(s settings) error {
	run, ok := benches[s.bench]
	switch {
	case !ok:
		return refused{fmt.Errorf("--bench is missing: known are %s", known())}
	case s.bench != "actor_memory":
		if !p.warm[s] {
			p.warm[s] = true
			if _, err := run(s); err != nil {
				return err
			}
		}
	case p.measuredMemory:
		return refused{errMemoryTwice}
	default:
		p.measuredMemory = true
	}
	o, err := run(s)
	if err != nil {
		return fmt.Errorf("check failed: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(line{
		Runtime:           "go",
		Bench:             s.bench,
		Workers:           s.workers,
		Actors:            o.actors,
		Messages:          o.messages,
		Seconds:           o.took.Seconds(),
		BytesPerActor:     o.bytesPerActor,
		HeapBytesPerActor: o.heapBytesPerActor,
		Checked:           true,
	})
}
