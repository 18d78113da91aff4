// Each actor has one ping in flight, to a random actor, which answers with an empty reply. A ping
// carries the source's index, which costs less than a counted reference to it.

#pragma once

#include "outcome.hpp"
#include "settings.hpp"

namespace latency_probe {

struct Shared {
    std::vector<caf::actor> all;
    std::size_t pings;
    Latch done;
};

struct Counts {
    std::size_t answers = 0;
    std::size_t answered = 0;
};

struct State {
    std::uint32_t random;
};

inline caf::behavior prober(caf::stateful_actor<State>* self, Shared* shared, Counts* counts, std::uint32_t index) {
    // Odd, hence never zero, which xorshift would never leave.
    self->state.random = (index * 0x9E3779B9U) | 1U;
    const auto ping = [=] {
        std::uint32_t& random = self->state.random;
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        const std::uint64_t target = (std::uint64_t{random} * shared->all.size()) >> 32;
        caf::anon_send(shared->all[target], index);
    };
    return {
        [=](std::uint32_t source) {
            counts->answered++;
            caf::anon_send(shared->all[source], pong_atom::value);
        },
        [=](pong_atom) {
            counts->answers++;
            if (counts->answers < shared->pings) {
                ping();
            } else {
                shared->done.count_down();
            }
        },
        [=](start_atom) { ping(); },
    };
}

inline Outcome run(caf::actor_system& system, const Settings& settings) {
    const std::size_t actors = settings.probers();
    Shared shared{{}, settings.pings(), Latch(actors)};
    std::vector<Counts> counts(actors);
    for (std::size_t index = 0; index < actors; index++) {
        shared.all.push_back(system.spawn(prober, &shared, &counts[index], static_cast<std::uint32_t>(index)));
    }
    const auto started = Clock::now();
    for (const caf::actor& one : shared.all) {
        caf::anon_send(one, start_atom::value);
    }
    shared.done.wait();
    const auto took = Clock::now() - started;
    end(system, shared.all);
    Counts sum;
    for (const Counts& some : counts) {
        sum.answers += some.answers;
        sum.answered += some.answered;
    }
    const std::size_t pings = actors * settings.pings();
    check(sum.answers == pings && sum.answered == pings,
          std::to_string(sum.answered) + " pings and " + std::to_string(sum.answers) + " replies of "
              + std::to_string(pings) + " each came");
    return {actors, 2 * pings, took};
}

}  // namespace latency_probe
