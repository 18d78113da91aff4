// The product of two matrices: each fork halves the longest side; halves of the inner side run one
// after the other.
#pragma once

#include "array.hpp"

#include <algorithm>

class Matmul {
public:
    explicit Matmul(std::size_t n)
        : n(n),
          a(n * n, [](std::size_t index) { return double((index * 7) % 17) - 8.0; }),
          b(n * n, [](std::size_t index) { return double((index * 5) % 17) - 8.0; }),
          c(n * n, [](std::size_t) { return 0.0; }) {}

    template <class R>
    void go() {
        multiply<R>(Factors{a.data(), b.data(), n}, Tile(c.data(), n), 0, n);
    }

    std::uint64_t checksum() const { return fold(c); }

private:
    // The longest side of a leaf.
    static constexpr std::size_t leaf_side = 64;

    struct Factors {
        const double *a, *b;
        std::size_t n;
    };

    // Adds the products of the inner indices from `from` up to `to` to the tile.
    template <class R>
    static void multiply(Factors factors, Tile c, std::size_t from, std::size_t to) {
        const std::size_t inner = to - from, side = std::max(c.rows, c.columns);
        if (std::max(side, inner) <= leaf_side) {
            leaf(factors, c, from, to);
        } else if (inner > side) {
            const std::size_t middle = from + inner / 2;
            multiply<R>(factors, c, from, middle);
            multiply<R>(factors, c, middle, to);
        } else {
            const auto [first, second] = c.halves();
            const Tile one = first, two = second;
            R::join([&] { multiply<R>(factors, one, from, to); },
                    [&] { multiply<R>(factors, two, from, to); });
        }
    }

    [[gnu::noinline]] static void leaf(Factors factors, Tile c, std::size_t from, std::size_t to) {
        for (std::size_t row = 0; row < c.rows; ++row) {
            const double* left = factors.a + (c.row + row) * factors.n;
            double* __restrict sums = c.start + row * c.stride;
            for (std::size_t inner = from; inner < to; ++inner) {
                const double factor = left[inner];
                const double* __restrict right = factors.b + inner * factors.n + c.column;
                for (std::size_t column = 0; column < c.columns; ++column) {
                    sums[column] += factor * right[column];
                }
            }
        }
    }

    std::size_t n;
    Array<double> a, b, c;
};
