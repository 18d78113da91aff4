package main

import (
	"flag"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
)

// noVariant names the variant of an experiment that has just one.
const noVariant = "-"

// Bounds on the flags. The processors' bound is the suite's own; the others keep a mistyped number
// from exhausting the machine's memory or its user's patience.
const (
	maxProcs   = 1024
	maxTasks   = 1_000_000
	maxWords   = 1 << 24
	maxTouch   = 1 << 24
	maxSeconds = 3600
)

// config is the settings of one run, from the flags.
type config struct {
	mode         string
	bench        string
	variant      string
	procs        int
	tasksPerProc int
	words        int
	touch        int
	duration     time.Duration
	patience     time.Duration
	seed         uint64
}

// tasks is the number of tasks in all (for cycle: of rings).
func (c config) tasks() int { return c.procs * c.tasksPerProc }

// hand reports whether the primitives are the hand-made ones.
func (c config) hand() bool { return c.mode == "hand" }

// experiment is one benchmark: its variants, and the function that runs it once.
type experiment struct {
	variants []string
	run      func(config) (measurement, error)
}

var experiments = map[string]experiment{
	"cycle":    {[]string{noVariant}, runCycle},
	"yield":    {[]string{noVariant}, runYield},
	"churn":    {[]string{noVariant}, runChurn},
	"locality": {[]string{"share", "noshare"}, runLocality},
	"transfer": {[]string{"park", "yield"}, runTransfer},
	"spawn":    {[]string{"batch", "serial"}, runSpawn},
}

var modes = []string{"native", "hand"}

// parse reads the flags; its errors name the valid values.
func parse(args []string, usage io.Writer) (config, error) {
	var c config
	var seconds, patience float64
	fs := flag.NewFlagSet("evenkeel-peer", flag.ContinueOnError)
	fs.SetOutput(usage)
	fs.StringVar(&c.mode, "mode", "native", "primitives: "+strings.Join(modes, " or "))
	fs.StringVar(&c.bench, "bench", "", "experiment: "+strings.Join(names(), ", "))
	fs.StringVar(&c.variant, "variant", noVariant, "variant of locality, transfer or spawn")
	fs.IntVar(&c.procs, "procs", 1, "processors (GOMAXPROCS)")
	fs.IntVar(&c.tasksPerProc, "tasks-per-proc", 100, "tasks per processor; cycle: rings of 5")
	fs.IntVar(&c.words, "words", 2, "locality: 64-bit cells per array")
	fs.IntVar(&c.touch, "touch", 2, "locality: random increments per operation")
	fs.Float64Var(&seconds, "seconds", 0.5, "time to measure")
	fs.Float64Var(&patience, "patience", 5, "transfer: seconds without a transfer that end the run")
	fs.Uint64Var(&c.seed, "seed", 1, "where the random choices begin")
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q: every setting is a flag, see -h", fs.Arg(0))
	}
	if !contains(modes, c.mode) {
		return c, unknown("mode", c.mode, modes)
	}
	e, ok := experiments[c.bench]
	if !ok {
		return c, unknown("bench", c.bench, names())
	}
	if !contains(e.variants, c.variant) {
		return c, unknown("variant of "+c.bench, c.variant, e.variants)
	}
	for _, b := range []struct {
		flag             string
		value, low, high int
	}{
		{"procs", c.procs, 1, maxProcs},
		{"tasks-per-proc", c.tasksPerProc, 1, maxTasks},
		{"words", c.words, 1, maxWords},
		{"touch", c.touch, 0, maxTouch},
	} {
		if b.value < b.low || b.value > b.high {
			return c, fmt.Errorf("--%s %d is out of range: it must be %d to %d", b.flag, b.value, b.low, b.high)
		}
	}
	if c.tasks() > maxTasks {
		return c, fmt.Errorf("%d tasks in all are too many: at most %d", c.tasks(), maxTasks)
	}
	if c.tasks() < 2 && (c.bench == "churn" || c.bench == "locality" || c.bench == "transfer") {
		return c, fmt.Errorf("%s needs at least 2 tasks: raise --tasks-per-proc or --procs", c.bench)
	}
	for _, b := range []struct {
		flag    string
		seconds float64
		to      *time.Duration
	}{
		{"seconds", seconds, &c.duration},
		{"patience", patience, &c.patience},
	} {
		// The comparison is written so that a NaN fails it.
		if !(b.seconds > 0 && b.seconds <= maxSeconds) {
			return c, fmt.Errorf("--%s %v is out of range: it must be above 0 and at most %d", b.flag, b.seconds, maxSeconds)
		}
		*b.to = time.Duration(b.seconds * float64(time.Second))
	}
	return c, nil
}

// names lists the experiments in alphabetical order, so that messages are the same in every run.
func names() []string {
	var all []string
	for name := range experiments {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func unknown(what, value string, known []string) error {
	return fmt.Errorf("unknown %s %q: known are %s", what, value, strings.Join(known, ", "))
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
