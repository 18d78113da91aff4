package main

import "net"

// echo accepts connections, each into a goroutine of its own that sends back what it receives. The
// client sees one that fails. Connections have no delay, which is Go's default.
func echo(listener net.Listener, buffer int) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			bytes := make([]byte, buffer)
			for {
				read, err := connection.Read(bytes)
				if err != nil {
					return
				}
				if _, err := connection.Write(bytes[:read]); err != nil {
					return
				}
			}
		}()
	}
}
