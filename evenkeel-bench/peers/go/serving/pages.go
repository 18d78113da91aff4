package main

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// compute is how long a page computes, block how long one blocks its thread, and large the bytes
// that a large page has more than others: the same as in the suite's own servers.
const (
	compute = 10 * time.Millisecond
	block   = 100 * time.Millisecond
	large   = 1 << 20
)

// pages serves HTTP/1.1. A reply has the number in the query of its request.
func pages(listener net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("/light", func(w http.ResponseWriter, r *http.Request) { hello(w, r, "") })
	mux.HandleFunc("/compute", func(w http.ResponseWriter, r *http.Request) {
		for began := time.Now(); time.Since(began) < compute; {
		}
		hello(w, r, "")
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
