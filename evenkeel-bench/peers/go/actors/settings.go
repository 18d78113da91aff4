package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// names are the benchmarks in the order of the suite.
var names = []string{"latency_probe", "pingpong", "fanin", "actor_spawn", "actor_memory"}

// modes are the ways to run a benchmark that has several, the default first.
var modes = map[string][]string{
	"actor_spawn":  {"alive", "waves"},
	"actor_memory": {"idle", "used"},
}

// settings are those of a run, from the flags.
type settings struct {
	bench, mode                       string
	workers, actorsPerWorker, pings   int
	pairs, repeats, inFlight          int
	producers, messages, actors, reps int
}

// defaults are the settings without a flag. 0 means that the number depends on the workers.
func defaults() settings {
	return settings{
		workers: 1, actorsPerWorker: 100, pings: 40_000, repeats: 1_000_000, inFlight: 1_000,
		messages: 200_000, actors: 200_000, reps: 1,
	}
}

// bounded is a flag for a number, with bounds that keep a mistyped number from exhausting the
// machine.
type bounded struct {
	value       *int
	least, most int
}

func (b bounded) String() string { return "" }

func (b bounded) Set(text string) error {
	number, err := strconv.Atoi(text)
	if err != nil || number < b.least || number > b.most {
		return fmt.Errorf("it is not a number from %d to %d", b.least, b.most)
	}
	*b.value = number
	return nil
}

// read reads flags; settings without a flag stay as they are.
func (s settings) read(words []string) (settings, error) {
	flags := flag.NewFlagSet("evenkeel-peer", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.bench, "bench", s.bench, "")
	flags.StringVar(&s.mode, "mode", s.mode, "")
	for name, b := range map[string]bounded{
		"workers":           {&s.workers, 1, 1024},
		"actors-per-worker": {&s.actorsPerWorker, 1, 10_000},
		"pings":             {&s.pings, 1, 1_000_000_000},
		"pairs":             {&s.pairs, 1, 100_000},
		"repeats":           {&s.repeats, 1, 1_000_000_000},
		"in-flight":         {&s.inFlight, 1, 1_000_000},
		"producers":         {&s.producers, 2, 100_000},
		"messages":          {&s.messages, 1, 1_000_000_000},
		"actors":            {&s.actors, 1, 10_000_000},
		"reps":              {&s.reps, 0, 100_000},
	} {
		flags.Var(b, name, "")
	}
	if err := flags.Parse(words); err != nil {
		return s, refused{err}
	}
	return s, s.check(flags.Args())
}

func (s *settings) check(rest []string) error {
	if len(rest) > 0 {
		return refused{fmt.Errorf("unexpected argument %q: every setting is a flag", rest[0])}
	}
	if s.bench != "" && !contains(names, s.bench) {
		return refused{fmt.Errorf("unknown bench %q: known are %s", s.bench, known())}
	}
	if s.mode != "" && !contains(modes[s.bench], s.mode) {
		return refused{fmt.Errorf("unknown mode %q of %s: known are %v", s.mode, s.bench, modes[s.bench])}
	}
	if s.bench == "latency_probe" && s.probers() > maxProbers {
		return refused{fmt.Errorf("%d actors are too many for latency_probe: at most %d", s.probers(), maxProbers)}
	}
	return nil
}

// sameProcess refuses a change of the process's own settings.
func (s settings) sameProcess(given settings) error {
	if s.workers != given.workers || s.reps != given.reps {
		return refused{fmt.Errorf("--workers and --reps are of the whole process: start another")}
	}
	return nil
}

func (s settings) probers() int { return s.workers * s.actorsPerWorker }

func (s settings) pairCount() int {
	if s.pairs == 0 {
		return s.workers
	}
	return s.pairs
}

func (s settings) producerCount() int {
	if s.producers == 0 {
		return 8 * s.workers
	}
	return s.producers
}

func known() string { return strings.Join(names, ", ") }

func contains(all []string, one string) bool {
	for _, some := range all {
		if some == one {
			return true
		}
	}
	return false
}
