// Command evenkeel-peer runs one experiment of the suite on Go's own scheduler and prints one
// JSON line.
//
// Exit status: 0 with exactly one line on standard output; 1 if the run failed its own check, with
// a message on standard error and no line; 2 if the flags make no sense.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
)

// result is the printed line of a run. The names are those of the suite's own records.
type result struct {
	Runtime        string   `json:"runtime"`
	Bench          string   `json:"bench"`
	Variant        string   `json:"variant"`
	Procs          int      `json:"procs"`
	Tasks          int      `json:"tasks"`
	Ops            uint64   `json:"ops"`
	Seconds        float64  `json:"seconds"`
	NsPerOpPerProc *float64 `json:"ns_per_op_per_proc,omitempty"`
	TransferUs     *float64 `json:"transfer_us,omitempty"`
	DNC            bool     `json:"dnc"`
}

func main() {
	cfg, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer: %v\n", err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(cfg.procs)
	m, err := experiments[cfg.bench].run(cfg)
	if err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer: go-%s %s %s, %d processors, %d tasks per processor: check failed: %v\n",
			cfg.mode, cfg.bench, cfg.variant, cfg.procs, cfg.tasksPerProc, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(describe(cfg, m)); err != nil {
		fmt.Fprintf(os.Stderr, "evenkeel-peer: can't write the result: %v\n", err)
		os.Exit(1)
	}
}

// describe turns a measurement into the printed line. A time per operation has no meaning for
// transfer, whose figure is the time per transfer; without an operation there is neither.
func describe(cfg config, m measurement) result {
	r := result{
		Runtime: "go-" + cfg.mode,
		Bench:   cfg.bench,
		Variant: cfg.variant,
		Procs:   cfg.procs,
		Tasks:   m.tasks,
		Ops:     m.ops,
		Seconds: m.elapsed.Seconds(),
		DNC:     m.dnc,
	}
	switch {
	case m.ops == 0:
	case cfg.bench != "transfer":
		ns := float64(m.elapsed.Nanoseconds()) * float64(cfg.procs) / float64(m.ops)
		r.NsPerOpPerProc = &ns
	case !m.dnc:
		us := m.elapsed.Seconds() * 1e6 / float64(m.ops)
		r.TransferUs = &us
	}
	return r
}
