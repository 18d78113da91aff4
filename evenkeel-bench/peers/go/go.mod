module evenkeel-peer

go 1.21
