package main

// random is Marsaglia's 64-bit xorshift generator: three shifts, no memory but its own word, so that
// drawing costs about a nanosecond and shares nothing.
type random struct{ state uint64 }

// newRandom gives each task a stream of its own. The multiplier is the golden ratio in 64 bits,
// which spreads consecutive numbers over the whole range; adding one keeps the state from zero,
// where xorshift would stay.
func newRandom(task int) random {
	r := random{(uint64(task) + 1) * 0x9e3779b97f4a7c15}
	// Streams of neighbours differ in few bits at first.
	for i := 0; i < 8; i++ {
		r.next()
	}
	return r
}

func (r *random) next() uint64 {
	x := r.state
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	r.state = x
	return x
}

// below draws a number from 0 to n-1, for n up to 2^32, by a multiplication instead of a division.
func (r *random) below(n int) int {
	return int((r.next() >> 32) * uint64(n) >> 32)
}
