package main

import (
	"fmt"
	"sync"
	"time"
)

// maxProbers keeps the buffers of all channels together below 2 GiB.
const maxProbers = 20_000

// reply is the message for a reply; a ping is its source's index.
const reply = int32(-1)

// latencyProbe: each actor has one ping in flight, to a random actor, which answers with an empty
// reply.
//
// A channel has room for a ping of each actor and one reply, which is all that can be under way to
// it: no send ever waits, so sends cannot wait in a circle.
func latencyProbe(s settings) (outcome, error) {
	count := s.probers()
	table := make([]chan int32, count)
	for i := range table {
		table[i] = make(chan int32, count+1)
	}
	answers, answered := make([]int, count), make([]int, count)
	var ended, done sync.WaitGroup
	ended.Add(count)
	done.Add(count)
	start := make(chan struct{})
	for i := range table {
		go func() {
			defer ended.Done()
			<-start
			answers[i], answered[i] = prober(table, int32(i), s.pings, &done)
		}()
	}
	started := time.Now()
	close(start)
	done.Wait()
	took := time.Since(started)
	for _, one := range table {
		close(one)
	}
	ended.Wait()
	pings := count * s.pings
	if sum(answers) != pings || sum(answered) != pings {
		return outcome{}, fmt.Errorf("%d pings and %d replies of %d each came", sum(answered), sum(answers), pings)
	}
	return outcome{actors: count, messages: 2 * pings, took: took}, nil
}

// prober is one actor, until its channel is closed. It returns the numbers of replies received and
// sent.
func prober(table []chan int32, index int32, pings int, done *sync.WaitGroup) (answers, answered int) {
	// Odd, hence never zero, which xorshift would never leave.
	random := uint32(index)*0x9E3779B9 | 1
	ping := func() {
		random ^= random << 13
		random ^= random >> 17
		random ^= random << 5
		table[uint64(random)*uint64(len(table))>>32] <- index
	}
	ping()
	for message := range table[index] {
		if message != reply {
			answered++
			table[message] <- reply
			continue
		}
		answers++
		if answers < pings {
			ping()
		} else {
			done.Done()
		}
	}
	return answers, answered
}

func sum(numbers []int) int {
	all := 0
	for _, number := range numbers {
		all += number
	}
	return all
}
