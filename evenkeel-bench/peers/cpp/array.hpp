// Arrays that begin at a page, rectangles of matrices, and the checksum of numbers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

// Numbers of eight bytes that begin at a page.
template <class T>
class Array {
    static_assert(sizeof(T) == 8, "as many in a page for all");
    static constexpr std::size_t page = 4096;

public:
    // An array of numbers, from their indices.
    template <class Number>
    Array(std::size_t length, Number number) : length(length) {
        const std::size_t bytes = (length * sizeof(T) + page - 1) / page * page;
        numbers.reset(static_cast<T*>(std::aligned_alloc(page, bytes)));
        if (!numbers) {
            throw std::bad_alloc();
        }
        for (std::size_t index = 0; index < length; ++index) {
            numbers.get()[index] = number(index);
        }
    }

    T* data() { return numbers.get(); }
    const T* data() const { return numbers.get(); }
    std::size_t size() const { return length; }

private:
    struct Free {
        void operator()(T* start) const { std::free(start); }
    };
    std::size_t length;
    std::unique_ptr<T, Free> numbers;
};

// A rectangle of a matrix.
struct Tile {
    double* start;
    std::size_t row, column, rows, columns;
    // The distance from one row to the next.
    std::size_t stride;

    Tile(double* matrix, std::size_t n)
        : start(matrix), row(0), column(0), rows(n), columns(n), stride(n) {}

    std::pair<Tile, Tile> split_rows(std::size_t upper) const {
        Tile first = *this, second = *this;
        first.rows = upper;
        second.start += upper * stride;
        second.row += upper;
        second.rows -= upper;
        return {first, second};
    }

    std::pair<Tile, Tile> split_columns(std::size_t left) const {
        Tile first = *this, second = *this;
        first.columns = left;
        second.start += left;
        second.column += left;
        second.columns -= left;
        return {first, second};
    }

    // The tile in halves of its longer side.
    std::pair<Tile, Tile> halves() const {
        return rows >= columns ? split_rows(rows / 2) : split_columns(columns / 2);
    }
};

// Folds the bits of numbers, so that one wrong number anywhere shows.
template <class T>
std::uint64_t fold(const Array<T>& numbers) {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
        std::uint64_t bits;
        std::memcpy(&bits, numbers.data() + index, sizeof bits);
        sum = (((sum << 5) | (sum >> 59)) ^ bits) * 0x9e3779b97f4a7c15u;
    }
    return sum;
}

// A number that the compiler cannot know.
template <class T>
T opaque(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}
