// Producers send numbered messages to one consumer. A producer has at most two chunks under way and
// is told when one is consumed, so memory stays bounded.

#pragma once

#include "outcome.hpp"
#include "settings.hpp"

#include <algorithm>

namespace fanin {

// Messages that a producer sends in a row.
constexpr std::size_t chunk = 512;

struct Shared {
    std::vector<caf::actor> producers;
    caf::actor consumer;
    std::size_t messages;
    Latch done;
    // The consumer's counts.
    std::vector<std::uint32_t> next;
    std::size_t came = 0;
    bool in_order = true;
};

struct State {
    std::size_t sent = 0;
};

inline caf::behavior producer(caf::stateful_actor<State>* self, Shared* shared, std::uint32_t index) {
    return {
        [=](start_atom) {
            std::size_t& sent = self->state.sent;
            const std::size_t end = std::min(sent + chunk, shared->messages);
            for (; sent < end; sent++) {
                caf::anon_send(shared->consumer, index, static_cast<std::uint32_t>(sent));
            }
        },
    };
}

inline caf::behavior consumer(caf::event_based_actor*, Shared* shared) {
    return {
        [=](std::uint32_t producer, std::uint32_t number) {
            shared->in_order = shared->in_order && shared->next[producer] == number;
            shared->next[producer]++;
            if (shared->next[producer] % chunk == 0) {
                caf::anon_send(shared->producers[producer], start_atom::value);
            }
            shared->came++;
            if (shared->came == shared->messages * shared->producers.size()) {
                shared->done.count_down();
            }
        },
    };
}

inline Outcome run(caf::actor_system& system, const Settings& settings) {
    const std::size_t producers = settings.producers();
    Shared shared{{}, {}, settings.messages(), Latch(1), std::vector<std::uint32_t>(producers)};
    shared.consumer = system.spawn(consumer, &shared);
    for (std::size_t index = 0; index < producers; index++) {
        shared.producers.push_back(system.spawn(producer, &shared, static_cast<std::uint32_t>(index)));
    }
    const auto started = Clock::now();
    for (const caf::actor& one : shared.producers) {
        // Two chunks each: the producer sends one while the consumer takes the other.
        caf::anon_send(one, start_atom::value);
        caf::anon_send(one, start_atom::value);
    }
    shared.done.wait();
    const auto took = Clock::now() - started;
    std::vector<caf::actor> all{std::move(shared.producers)};
    all.push_back(std::move(shared.consumer));
    end(system, all);
    const std::size_t messages = producers * settings.messages();
    check(shared.in_order, "the messages of a producer came out of order");
    check(shared.came == messages, std::to_string(shared.came) + " messages of " + std::to_string(messages) + " came");
    return {producers + 1, messages, took};
}

}  // namespace fanin
