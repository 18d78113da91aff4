package main

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// steps are those that a page computes, block is how long one blocks its thread, and large the
// bytes that a large page has more than others: the same as in the suite's own servers.
const (
	steps = 8_000_000
	block = 100 * time.Millisecond
	large = 1 << 20
)

// A step of the computation is number*factor + term, as in the suite's own servers. They are
// variables so that the compiler does not know them.
var factor, term uint64 = 6_364_136_223_846_793_005, 1_442_695_040_888_963_407

// compute makes all steps.
func compute(number uint64) uint64 {
	a, c := factor, term
	for i := 0; i < steps; i++ {
		number = number*a + c
	}
	return number
}

// pages serves HTTP/1.1. A reply has the number in the query of its request.
func pages(listener net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("/light", func(w http.ResponseWriter, r *http.Request) { hello(w, r, "") })
	mux.HandleFunc("/compute", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.ParseUint(r.URL.RawQuery, 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		hello(w, r, " "+strconv.FormatUint(compute(number), 10))
	})
	mux.HandleFunc("/block", func(w http.ResponseWriter, r *http.Request) {
		blockThread(block)
		hello(w, r, "")
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		hello(w, r, strings.Repeat(".", large))
	})
	// It returns when the process ends.
	_ = http.Serve(listener, mux)
}

// hello writes a page. A client that has gone is no fault.
func hello(w http.ResponseWriter, r *http.Request, more string) {
	body := "hello " + r.URL.RawQuery + more
	header := w.Header()
	header.Set("Content-Type", "text/plain")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write([]byte(body))
}
