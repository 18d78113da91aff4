// Heat on a plate: a five-point stencil, step after step; each step halves the rows.
#pragma once

#include "array.hpp"

class Heat {
public:
    explicit Heat(std::size_t n) : n(n), now(n * n, Start{n}), next(n * n, Start{n}) {}

    template <class R>
    void go() {
        for (int phase = 0; phase < steps; ++phase) {
            step<R>(now.data(), n, Tile(next.data(), n));
            std::swap(now, next);
        }
    }

    std::uint64_t checksum() const { return fold(now); }

private:
    // Rows of a leaf.
    static constexpr std::size_t leaf_rows = 16;
    // Steps, each of which ends before the next begins.
    static constexpr int steps = 40;

    struct Start {
        std::size_t n;
        double operator()(std::size_t index) const {
            return index < n ? 1.0 : double(index % 11) / 11.0;
        }
    };

    template <class R>
    static void step(const double* now, std::size_t n, Tile next) {
        if (next.rows <= leaf_rows) {
            return leaf(now, n, next);
        }
        const auto [first, second] = next.split_rows(next.rows / 2);
        const Tile upper = first, lower = second;
        R::join([&] { step<R>(now, n, upper); }, [&] { step<R>(now, n, lower); });
    }

    [[gnu::noinline]] static void leaf(const double* now, std::size_t n, Tile next) {
        for (std::size_t row = 0; row < next.rows; ++row) {
            const std::size_t here = next.row + row;
            // The rim is constant.
            if (here == 0 || here == n - 1) {
                continue;
            }
            const double* __restrict above = now + (here - 1) * n;
            const double* __restrict middle = above + n;
            const double* __restrict below = middle + n;
            double* __restrict cells = next.start + row * next.stride;
            for (std::size_t column = 1; column + 1 < n; ++column) {
                const double around =
                    above[column] + below[column] + middle[column - 1] + middle[column + 1];
                cells[column] = middle[column] + 0.1 * (around - 4.0 * middle[column]);
            }
        }
    }

    std::size_t n;
    Array<double> now, next;
};
