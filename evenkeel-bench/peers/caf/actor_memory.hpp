// The memory of an idle actor in this program, its reference included.

#pragma once

#include "outcome.hpp"
#include "settings.hpp"

#include <atomic>
#include <fstream>

namespace actor_memory {

// Resident bytes of this program; negative where there is no Linux-style /proc.
inline double resident() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmRSS:", 0) == 0) {
            return 1024.0 * std::strtod(line.c_str() + 6, nullptr);
        }
    }
    return -1;
}

inline caf::behavior idle(caf::event_based_actor*, Latch* begun, Latch* handled) {
    begun->count_down();
    return {
        [=](ping_atom) { handled->count_down(); },
    };
}

inline Outcome run(caf::actor_system& system, const Settings& settings) {
    const std::size_t actors = settings.actors();
    const bool used = settings.mode == "used";
    Latch begun(actors), handled(actors);
    const auto started = Clock::now();
    const double before = resident();
    std::vector<caf::actor> all;
    all.reserve(actors);
    for (std::size_t at = 0; at < actors; at++) {
        all.push_back(system.spawn(idle, &begun, &handled));
    }
    // A worker makes an actor's behavior, with the memory for it, at some time after the spawn.
    begun.wait();
    if (used) {
        for (const caf::actor& one : all) {
            caf::anon_send(one, ping_atom::value);
        }
        handled.wait();
    }
    const double after = resident();
    const auto took = Clock::now() - started;
    end(system, all);
    const double bytes = before < 0 ? -1 : (after - before) / static_cast<double>(actors);
    return {actors, used ? actors : 0, took, bytes};
}

}  // namespace actor_memory
