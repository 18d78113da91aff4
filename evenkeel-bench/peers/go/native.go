package main

// The native primitives are channels, as in any Go program.

// token is a parked task's permission to go on: a channel with room for one token.
//
// Receiving parks until a token is there and takes it. A token given to a task that has not parked
// yet waits in the buffer, so it is not lost.
type token chan struct{}

func newToken() token { return make(token, 1) }

// unpark gives the token unless one is already there.
func (t token) unpark() {
	select {
	case t <- struct{}{}:
	default:
	}
}

// newChannelSemaphore makes a counting semaphore with a datum in each permit: sending is V,
// receiving is P. The runtime keeps blocked receivers in FIFO order and gives a sent value to the
// first of them directly, which is FIFO hand-over. V blocks while `room` permits are free.
func newChannelSemaphore[D any](room int) chan D {
	return make(chan D, room)
}
