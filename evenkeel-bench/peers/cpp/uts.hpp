// Nodes of an unbalanced tree, in which a path alone determines its node: geometric with fixed
// branching, as T1 of the unbalanced tree search benchmark (Olivier et al., 2006). Children are
// hashes of their parent.
#pragma once

#include "sha1.hpp"

#include <algorithm>
#include <cmath>

class Uts {
public:
    explicit Uts(std::size_t n) : depth(n) {}

    template <class R>
    void go() {
        nodes = count<R>(root(), 0, depth);
    }

    std::uint64_t checksum() const { return nodes; }

private:
    // Expected children of a node.
    static constexpr double branching = 4.0;
    // The root is the hash of this.
    static constexpr std::uint32_t seed = 19;
    // The most children of a node.
    static constexpr std::size_t most_children = 100;
    // The bit that follows the message.
    static constexpr std::uint32_t end = 0x80000000;

    static Hash root() { return sha1_of({0, 0, 0, 0, seed, end, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20 * 8}); }

    [[gnu::noinline]] static Hash child(const Hash& node, std::uint32_t number) {
        return sha1_of({node[0], node[1], node[2], node[3], node[4], number, end, 0, 0, 0, 0, 0, 0, 0, 0,
                        24 * 8});
    }

    // The number of a node's children, above the depth where the tree is cut.
    static std::size_t children(const Hash& node) {
        const double uniform = double(node[4] & 0x7fffffff) / double(std::uint32_t{1} << 31);
        const double probability = 1.0 / (1.0 + branching);
        const double children = std::floor(std::log(1.0 - uniform) / std::log(1.0 - probability));
        return std::min(static_cast<std::size_t>(children), most_children);
    }

    template <class R>
    static std::uint64_t count(Hash node, std::size_t depth, std::size_t most) {
        return 1 + range<R>(node, 0, depth < most ? children(node) : 0, depth + 1, most);
    }

    // Counts the nodes below the children from `from` up to `to`.
    template <class R>
    static std::uint64_t range(const Hash& node, std::size_t from, std::size_t to, std::size_t depth,
                               std::size_t most) {
        if (to == from) {
            return 0;
        }
        if (to - from == 1) {
            return count<R>(child(node, static_cast<std::uint32_t>(from)), depth, most);
        }
        const std::size_t middle = from + (to - from) / 2;
        std::uint64_t a, b;
        R::join([&] { a = range<R>(node, from, middle, depth, most); },
                [&] { b = range<R>(node, middle, to, depth, most); });
        return a + b;
    }

    std::size_t depth;
    std::uint64_t nodes = 0;
};
