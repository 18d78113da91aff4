// Only forks: the doubly recursive Fibonacci function without a cut-off.
#pragma once

#include "array.hpp"

class Fib {
public:
    explicit Fib(std::size_t n) : n(n) {}

    template <class R>
    void go() {
        result = fib<R>(opaque(n));
    }

    std::uint64_t checksum() const { return result; }

private:
    template <class R>
    static std::uint64_t fib(std::size_t n) {
        if (n < 2) {
            return n;
        }
        std::uint64_t a, b;
        R::join([&] { a = fib<R>(n - 1); }, [&] { b = fib<R>(n - 2); });
        return a + b;
    }

    std::size_t n;
    std::uint64_t result = 0;
};
