// Merge sort with merges that fork too: a merge looks the middle of the longer half up in the
// shorter one.
#pragma once

#include "array.hpp"

#include <algorithm>

class Cilksort {
public:
    explicit Cilksort(std::size_t n)
        : numbers(n, Random{}), room(n, [](std::size_t) { return std::uint64_t{0}; }) {}

    template <class R>
    void go() {
        sort<R>(Row{numbers.data(), numbers.size()}, room.data());
    }

    std::uint64_t checksum() const { return fold(numbers); }

private:
    // Up to this length, numbers are sorted without a fork.
    static constexpr std::size_t sort_alone = 2048;
    // Up to this length, numbers are merged without a fork.
    static constexpr std::size_t merge_alone = 2048;

    struct Random {
        std::uint64_t state = 0x2545f4914f6cdd1du;
        std::uint64_t operator()(std::size_t) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            return state;
        }
    };

    struct Row {
        std::uint64_t* start;
        std::size_t length;

        Row first(std::size_t count) const { return Row{start, count}; }
        Row without(std::size_t count) const { return Row{start + count, length - count}; }
    };

    // Sorts `numbers`; `room` has the same length.
    template <class R>
    static void sort(Row numbers, std::uint64_t* room) {
        if (numbers.length <= sort_alone) {
            return sort_leaf(numbers);
        }
        const std::size_t middle = numbers.length / 2;
        const Row left = numbers.first(middle), right = numbers.without(middle);
        R::join([&] { halves<R>(left, room); }, [&] { halves<R>(right, room + middle); });
        merge<R>(Row{room, left.length}, Row{room + middle, right.length}, numbers.start);
    }

    // Sorts `numbers` into `room`.
    template <class R>
    static void halves(Row numbers, std::uint64_t* room) {
        if (numbers.length <= sort_alone) {
            sort_leaf(numbers);
            std::copy_n(numbers.start, numbers.length, room);
            return;
        }
        const std::size_t middle = numbers.length / 2;
        const Row left = numbers.first(middle), right = numbers.without(middle);
        R::join([&] { sort<R>(left, room); }, [&] { sort<R>(right, room + middle); });
        merge<R>(left, right, room);
    }

    // Merges two sorted arrays.
    template <class R>
    static void merge(Row a, Row b, std::uint64_t* to) {
        if (a.length + b.length <= merge_alone) {
            return merge_leaf(a, b, to);
        }
        const Row longer = a.length >= b.length ? a : b, shorter = a.length >= b.length ? b : a;
        const std::size_t middle = longer.length / 2;
        const std::size_t place =
            std::lower_bound(shorter.start, shorter.start + shorter.length, longer.start[middle]) -
            shorter.start;
        R::join([&] { merge<R>(longer.first(middle), shorter.first(place), to); },
                [&] { merge<R>(longer.without(middle), shorter.without(place), to + middle + place); });
    }

    [[gnu::noinline]] static void sort_leaf(Row numbers) {
        std::sort(numbers.start, numbers.start + numbers.length);
    }

    [[gnu::noinline]] static void merge_leaf(Row a, Row b, std::uint64_t* to) {
        std::merge(a.start, a.start + a.length, b.start, b.start + b.length, to);
    }

    Array<std::uint64_t> numbers, room;
};
