// Runs one fork-join program on one runtime, once for each line on standard input, and answers each
// with one JSON line. The runtime is chosen at compile time: see README.md.
//
// Exit status: 0 at the end of the input; 1 if memory or the runtime failed; 2 if the arguments make
// no sense.

#include PEER

#include "cilksort.hpp"
#include "fib.hpp"
#include "heat.hpp"
#include "matmul.hpp"
#include "nqueens.hpp"
#include "skynet.hpp"
#include "transpose.hpp"
#include "uts.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

// The suite's own bounds: they keep a mistyped number from exhausting the machine.
constexpr std::size_t most_workers = 1024;

struct Program {
    const char* name;
    std::size_t most;
    void (*once)(Runtime&, std::size_t);
};

// Prepares the input, times the recursion alone, and prints the result.
template <class Workload>
void once(Runtime& runtime, std::size_t n) {
    Workload workload(n);
    const auto started = std::chrono::steady_clock::now();
    runtime.run([&] { workload.template go<Runtime>(); });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    std::printf("{\"seconds\":%.9f,\"checksum\":%" PRIu64 "}\n", elapsed.count(), workload.checksum());
    std::fflush(stdout);
}

constexpr Program programs[] = {
    {"matmul", std::size_t{1} << 15, once<Matmul>},
    {"transpose", std::size_t{1} << 15, once<Transpose>},
    {"heat", std::size_t{1} << 15, once<Heat>},
    {"cilksort", std::size_t{1} << 30, once<Cilksort>},
    {"fib", 60, once<Fib>},
    {"nqueens", 20, once<Nqueens>},
    {"skynet", 10, once<Skynet>},
    {"uts", 13, once<Uts>},
};

[[noreturn]] void refuse(const char* what, const char* value) {
    std::fprintf(stderr, "evenkeel-peer: %s `%s`: usage: evenkeel-peer PROGRAM N WORKERS\n", what, value);
    std::exit(2);
}

std::size_t number(const char* what, const char* text, std::size_t most) {
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-' || value < 1 || value > most) {
        std::fprintf(stderr, "evenkeel-peer: %s `%s` is not a number from 1 to %zu\n", what, text, most);
        std::exit(2);
    }
    return value;
}

const Program& program(const char* name) {
    for (const Program& known : programs) {
        if (std::strcmp(known.name, name) == 0) {
            return known;
        }
    }
    refuse("unknown program", name);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        refuse("three arguments are needed, not", count > 1 ? arguments[count - 1] : "none");
    }
    const Program& chosen = program(arguments[1]);
    const std::size_t n = number("size", arguments[2], chosen.most);
    const std::size_t workers = number("workers", arguments[3], most_workers);
    try {
        Runtime runtime(static_cast<int>(workers));
        for (int symbol = std::getchar(); symbol != EOF; symbol = std::getchar()) {
            if (symbol == '\n') {
                chosen.once(runtime, n);
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "evenkeel-peer: %s\n", error.what());
        return 1;
    }
    return 0;
}
