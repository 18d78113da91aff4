package main

import (
	"fmt"
	"sync"
	"time"
)

// mailbox is the channel's capacity in fanin, the same as that of other bounded mailboxes in the
// suite.
const mailbox = 1_024

// pingpong: pairs of a client and a destination, with many pings in flight in each; the rules of
// Akka's TellThroughput. A channel has room for all pings in flight, so no send waits.
func pingpong(s settings) (outcome, error) {
	pairs := s.pairCount()
	first := min(s.inFlight, s.repeats)
	answered := make([]int, pairs)
	var ended sync.WaitGroup
	ended.Add(2 * pairs)
	start := make(chan struct{})
	for pair := range answered {
		pings, replies := make(chan struct{}, first), make(chan struct{}, first)
		go func() {
			defer ended.Done()
			count := 0
			for range pings {
				count++
				replies <- struct{}{}
			}
			answered[pair] = count
		}()
		go func() {
			defer ended.Done()
			<-start
			for range first {
				pings <- struct{}{}
			}
			for range s.repeats - first {
				<-replies
				pings <- struct{}{}
			}
			for range first {
				<-replies
			}
			close(pings)
		}()
	}
	started := time.Now()
	close(start)
	ended.Wait()
	took := time.Since(started)
	for _, count := range answered {
		if count != s.repeats {
			return outcome{}, fmt.Errorf("a destination had %d pings of %d", count, s.repeats)
		}
	}
	return outcome{actors: 2 * pairs, messages: 2 * pairs * s.repeats, took: took}, nil
}

// numbered is a message of fanin.
type numbered struct {
	producer, number uint32
}

// fanin: producers send numbered messages to one consumer, as fast as its channel takes them.
func fanin(s settings) (outcome, error) {
	producers := s.producerCount()
	consumer := make(chan numbered, mailbox)
	start := make(chan struct{})
	for producer := range producers {
		go func() {
			<-start
			for number := range s.messages {
				consumer <- numbered{uint32(producer), uint32(number)}
			}
		}()
	}
	messages := producers * s.messages
	ordered := true
	done := make(chan struct{})
	go func() {
		next := make([]uint32, producers)
		for range messages {
			message := <-consumer
			ordered = ordered && next[message.producer] == message.number
			next[message.producer]++
		}
		close(done)
	}()
	started := time.Now()
	close(start)
	<-done
	took := time.Since(started)
	if !ordered {
		return outcome{}, fmt.Errorf("the messages of a producer came out of order")
	}
	return outcome{actors: producers + 1, messages: messages, took: took}, nil
}
