// The measurements of a run, and what all benchmarks need for them.

#pragma once

#include <caf/all.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using start_atom = caf::atom_constant<caf::atom("start")>;
using ping_atom = caf::atom_constant<caf::atom("ping")>;
using pong_atom = caf::atom_constant<caf::atom("pong")>;

using Clock = std::chrono::steady_clock;

struct Outcome {
    std::size_t actors = 0;
    std::size_t messages = 0;
    Clock::duration took{};
    // Negative where it was not measured.
    double bytes_per_actor = -1;
};

// Fails the run if it did not pass its own check.
inline void check(bool passed, const std::string& what) {
    if (!passed) {
        throw std::runtime_error("check failed: " + what);
    }
}

// Lets the main thread wait until a number of actors are done.
class Latch {
public:
    explicit Latch(std::size_t count) : left_(count) {}

    void count_down() {
        std::lock_guard<std::mutex> guard(mutex_);
        left_--;
        if (left_ == 0) {
            zero_.notify_all();
        }
    }

    void wait() {
        std::unique_lock<std::mutex> guard(mutex_);
        zero_.wait(guard, [&] { return left_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable zero_;
    std::size_t left_;
};

// Ends the actors of a run and waits for their end, so that the next run starts without them.
inline void end(caf::actor_system& system, std::vector<caf::actor>& all) {
    for (caf::actor& one : all) {
        caf::anon_send_exit(one, caf::exit_reason::kill);
    }
    all.clear();
    system.await_all_actors_done();
}
