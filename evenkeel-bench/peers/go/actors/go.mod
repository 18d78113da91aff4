module evenkeel-peer

go 1.22
