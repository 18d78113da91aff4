// Ways to place queens on a board so that none attacks another: forks halve the free columns of a
// row.
#pragma once

#include <cstddef>
#include <cstdint>

class Nqueens {
public:
    explicit Nqueens(std::size_t n) : n(n) {}

    template <class R>
    void go() {
        // Columns beside the board count as taken.
        result = place<R>(Board{~std::uint32_t{0} << n, 0, 0});
    }

    std::uint64_t checksum() const { return result; }

private:
    // The rows so far: the columns that are taken, straight down and along both diagonals.
    struct Board {
        std::uint32_t columns, left, right;

        std::uint32_t free() const { return ~(columns | left | right); }

        // With a queen in the next row.
        Board with(std::uint32_t column) const {
            return Board{columns | column, (left | column) << 1, (right | column) >> 1};
        }
    };

    template <class R>
    static std::uint64_t place(Board board) {
        if (board.columns == ~std::uint32_t{0}) {
            return 1;
        }
        const std::uint32_t free = board.free();
        return free == 0 ? 0 : choose<R>(board, free);
    }

    // Returns the ways with the next queen in one of `columns`, of which there is at least one.
    template <class R>
    static std::uint64_t choose(Board board, std::uint32_t columns) {
        const std::uint32_t first = columns & -columns;
        const std::uint32_t rest = columns ^ first;
        if (rest == 0) {
            return place<R>(board.with(first));
        }
        std::uint64_t a, b;
        R::join([&] { a = place<R>(board.with(first)); }, [&] { b = choose<R>(board, rest); });
        return a + b;
    }

    std::size_t n;
    std::uint64_t result = 0;
};
