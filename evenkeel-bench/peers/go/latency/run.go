package main

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"sync/atomic"
	"time"
)

// limit is the longest time for goroutines to start or to end.
const limit = 10 * time.Second

// look is how often the sender checks whether all goroutines have run or ended.
const look = 500 * time.Microsecond

// grain is the resolution of the random pauses, as a share of one.
const grain = 1 << 20

// slot is the state of one light goroutine.
type slot struct {
	sent  atomic.Int64
	delay atomic.Int64
	wake  chan struct{}
}

// board is the state of the sender and the goroutines.
type board struct {
	began  time.Time
	wakes  []slot
	spawns []slot
	parked atomic.Int64
	ran    atomic.Int64
	twice  atomic.Int64
	alive  atomic.Int64
	over   atomic.Bool
}

func (b *board) now() int64 { return time.Since(b.began).Nanoseconds() }

// run writes the delay of a light goroutine that runs.
func (b *board) run(s *slot) {
	if s.delay.Swap(b.now()-s.sent.Load()) != none {
		b.twice.Add(1)
	}
	b.ran.Add(1)
}

func slots(count int) []slot {
	all := make([]slot, count)
	for i := range all {
		all[i].sent.Store(none)
		all[i].delay.Store(none)
	}
	return all
}

// spawn starts a goroutine that is counted.
func (b *board) spawn(body func()) {
	b.alive.Add(1)
	go func() {
		body()
		b.alive.Add(-1)
	}()
}

// load starts what runs beside the light goroutines until the end.
func (b *board) load(cfg config) {
	if cfg.variant != "ready" {
		return
	}
	// Channels that always have a message; there is one kind of them, so each worker has two.
	for i := 0; i < 2*cfg.workers; i++ {
		b.spawn(func() {
			messages := make(chan struct{}, 1)
			for !b.over.Load() {
				messages <- struct{}{}
				<-messages
			}
		})
	}
}

// call is what is sent, at its time after the first.
type call struct {
	at     time.Duration
	kind   int
	number int
}

const (
	wake = iota
	start
	compute
	blocks
)

// calls is the same list as the suite's own process makes of the same settings.
func calls(cfg config) []call {
	period := 1 / float64(cfg.rate)
	at := func(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }
	var all []call
	for n := 0; n < cfg.events; n++ {
		all = append(all, call{at(float64(n) * period), wake, n}, call{at((float64(n) + 0.5) * period), start, n})
	}
	random, next := newRandom(cfg.seed), 0.0
	for cfg.computes > 0 {
		share := float64(random.below(grain)+1) / grain
		next -= math.Log(share) / float64(cfg.computes)
		if next >= float64(cfg.events)*period {
			break
		}
		all = append(all, call{at(next), compute, 0})
	}
	for next := time.Duration(0); next.Seconds() < float64(cfg.events)*period; next += cfg.every {
		for i := 0; i < cfg.blocks; i++ {
			all = append(all, call{next, blocks, 0})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at < all[j].at })
	return all
}

// send makes all calls and returns the lateness that 999 of 1,000 do not exceed, in microseconds.
// It is a goroutine as well: no thread outside of Go's scheduler can start one. So it may itself
// wait for a processor, which its lateness shows.
func (b *board) send(cfg config, all []call) *float64 {
	began := time.Now()
	late := make([]int64, 0, len(all))
	for _, c := range all {
		if pause := c.at - time.Since(began); pause > 0 {
			time.Sleep(pause)
		}
		late = append(late, max((time.Since(began)-c.at).Nanoseconds(), 0))
		switch c.kind {
		case wake:
			s := &b.wakes[c.number]
			s.sent.Store(b.now())
			s.wake <- struct{}{}
		case start:
			s := &b.spawns[c.number]
			b.alive.Add(1)
			s.sent.Store(b.now())
			go func() {
				b.run(s)
				b.alive.Add(-1)
			}()
		case blocks:
			b.spawn(func() { block(cfg.block) })
		case compute:
			b.spawn(func() {
				for began := time.Now(); time.Since(began) < cfg.compute; {
				}
			})
		}
	}
	sort.Slice(late, func(i, j int) bool { return late[i] < late[j] })
	return micros(late, len(late), 0.999)
}

// waitFor waits until a count is the goal or the time is over, and returns the count.
func waitFor(count *atomic.Int64, goal int64, patience time.Duration) int64 {
	for began := time.Now(); ; time.Sleep(look) {
		if seen := count.Load(); seen == goal || time.Since(began) > patience {
			return seen
		}
	}
}

// read copies the light goroutines at one moment.
func read(all []slot) []light {
	lights := make([]light, len(all))
	for i := range all {
		lights[i] = light{all[i].sent.Load(), all[i].delay.Load()}
	}
	return lights
}

// run makes the run: light goroutines park, the load starts, the sender sends, and all that have
// not run by the end of the patience have never run. Then the load ends.
func run(cfg config) (result, error) {
	b := &board{began: time.Now(), wakes: slots(cfg.events), spawns: slots(cfg.events)}
	for i := range b.wakes {
		s := &b.wakes[i]
		s.wake = make(chan struct{}, 1)
		b.spawn(func() {
			b.parked.Add(1)
			<-s.wake
			b.run(s)
		})
	}
	if parked := waitFor(&b.parked, int64(cfg.events), limit); parked < int64(cfg.events) {
		return result{}, fmt.Errorf("only %d of %d goroutines have parked", parked, cfg.events)
	}
	all := calls(cfg)
	b.load(cfg)
	time.Sleep(cfg.warmUp)
	first := b.now()
	late := b.send(cfg, all)
	last := b.now()
	events := int64(2 * cfg.events)
	waitFor(&b.ran, events, cfg.patience)
	wakes, spawns := read(b.wakes), read(b.spawns)
	b.over.Store(true)
	if left := waitFor(&b.alive, 0, limit); left != 0 {
		return result{}, fmt.Errorf("%d goroutines have not ended %v after the stop", left, limit)
	}
	if ran, twice := b.ran.Load(), b.twice.Load(); ran != events || twice != 0 {
		return result{}, fmt.Errorf("%d light goroutines ran instead of %d, %d of them twice", ran, events, twice)
	}
	return result{
		Seconds:  float64(last-first) / 1e9,
		Wakes:    summarise(wakes, first, last),
		Spawns:   summarise(spawns, first, last),
		SenderUs: late,
	}, nil
}

// random is the suite's own generator, Marsaglia's 64-bit xorshift, as task 0 draws from it.
type random struct{ state uint64 }

func newRandom(seed uint64) random {
	mixed := seed * 0x9e3779b97f4a7c15
	return random{(mixed ^ mixed>>29) | 1}
}

func (r *random) below(n int) int {
	x := r.state
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	r.state = x
	high, _ := bits.Mul64(x, uint64(n))
	return int(high)
}
