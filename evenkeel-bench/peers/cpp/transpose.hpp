// Transposes one matrix into another: each fork halves the longer side.
#pragma once

#include "array.hpp"

#include <algorithm>

class Transpose {
public:
    explicit Transpose(std::size_t n)
        : n(n),
          from(n * n, [](std::size_t index) { return double(index); }),
          to(n * n, [](std::size_t) { return 0.0; }) {}

    template <class R>
    void go() {
        turn<R>(from.data(), n, Tile(to.data(), n));
    }

    std::uint64_t checksum() const { return fold(to); }

private:
    // The longest side of a leaf.
    static constexpr std::size_t leaf_side = 32;

    template <class R>
    static void turn(const double* from, std::size_t n, Tile to) {
        if (std::max(to.rows, to.columns) <= leaf_side) {
            return leaf(from, n, to);
        }
        const auto [first, second] = to.halves();
        const Tile one = first, two = second;
        R::join([&] { turn<R>(from, n, one); }, [&] { turn<R>(from, n, two); });
    }

    [[gnu::noinline]] static void leaf(const double* __restrict from, std::size_t n, Tile to) {
        for (std::size_t row = 0; row < to.rows; ++row) {
            double* __restrict cells = to.start + row * to.stride;
            for (std::size_t column = 0; column < to.columns; ++column) {
                cells[column] = from[(to.column + column) * n + to.row + row];
            }
        }
    }

    std::size_t n;
    Array<double> from, to;
};
