// This file is empty on purpose: its presence lets the compiler accept the functions without a body
// in hand.go, which the linker resolves.
