module evenkeel-peer-serving

go 1.21
