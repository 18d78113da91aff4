package main

import "math/bits"

// random is Marsaglia's 64-bit xorshift generator: three shifts, no memory but its own word, so that
// drawing costs about a nanosecond and shares nothing.
type random struct{ state uint64 }

// newRandom gives each task of a run a stream of its own, the same as the suite gives to the tasks
// of its own process. The multiplier is 2^64 over the golden ratio, which spreads neighbouring
// numbers over all bits; the lowest bit is set because zero is the one state that xorshift never
// leaves.
func newRandom(seed uint64, task int) random {
	mixed := (seed ^ uint64(task)<<32) * 0x9e3779b97f4a7c15
	return random{(mixed ^ mixed>>29) | 1}
}

func (r *random) next() uint64 {
	x := r.state
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	r.state = x
	return x
}

// below draws a number from 0 to n-1, by a multiplication instead of a division.
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}
