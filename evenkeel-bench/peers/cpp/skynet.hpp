// The sum of the numbers of 10^n leaves, by halves.
#pragma once

#include "array.hpp"

class Skynet {
public:
    explicit Skynet(std::size_t n) {
        for (; n > 0; --n) {
            leaves *= 10;
        }
    }

    template <class R>
    void go() {
        result = sum<R>(0, opaque(leaves));
    }

    std::uint64_t checksum() const { return result; }

private:
    template <class R>
    static std::uint64_t sum(std::uint64_t from, std::uint64_t to) {
        if (to - from == 1) {
            return leaf(from);
        }
        const std::uint64_t middle = from + (to - from) / 2;
        std::uint64_t a, b;
        R::join([&] { a = sum<R>(from, middle); }, [&] { b = sum<R>(middle, to); });
        return a + b;
    }

    // The empty statement keeps the compiler from seeing through a function that does nothing.
    [[gnu::noinline]] static std::uint64_t leaf(std::uint64_t number) {
        asm volatile("");
        return number;
    }

    std::uint64_t leaves = 1;
    std::uint64_t result = 0;
};
