module evenkeel-peer-latency

go 1.21
