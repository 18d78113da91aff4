// Pairs of a client and a destination, with many pings in flight in each: the rules of Akka's TellThroughput.

#pragma once

#include "outcome.hpp"
#include "settings.hpp"

#include <algorithm>

namespace pingpong {

struct Pair {
    caf::actor client;
    caf::actor destination;
    std::size_t repeats;
    std::size_t in_flight;
    Latch* done;
    std::size_t sent = 0;
    std::size_t answers = 0;
    std::size_t answered = 0;
};

inline caf::behavior destination(caf::event_based_actor*, Pair* pair) {
    return {
        [=](ping_atom) {
            pair->answered++;
            caf::anon_send(pair->client, pong_atom::value);
        },
    };
}

inline caf::behavior client(caf::event_based_actor*, Pair* pair) {
    return {
        [=](pong_atom) {
            pair->answers++;
            if (pair->sent < pair->repeats) {
                pair->sent++;
                caf::anon_send(pair->destination, ping_atom::value);
            } else if (pair->answers == pair->repeats) {
                pair->done->count_down();
            }
        },
        [=](start_atom) {
            for (; pair->sent < pair->in_flight; pair->sent++) {
                caf::anon_send(pair->destination, ping_atom::value);
            }
        },
    };
}

inline Outcome run(caf::actor_system& system, const Settings& settings) {
    const std::size_t repeats = settings.repeats();
    Latch done(settings.pairs());
    std::vector<Pair> pairs(settings.pairs());
    std::vector<caf::actor> all;
    for (Pair& pair : pairs) {
        pair.repeats = repeats;
        pair.in_flight = std::min(settings.in_flight(), repeats);
        pair.done = &done;
        pair.client = system.spawn(client, &pair);
        pair.destination = system.spawn(destination, &pair);
        all.push_back(pair.client);
        all.push_back(pair.destination);
    }
    const auto started = Clock::now();
    for (const Pair& pair : pairs) {
        caf::anon_send(pair.client, start_atom::value);
    }
    done.wait();
    const auto took = Clock::now() - started;
    const std::size_t actors = all.size();
    end(system, all);
    for (const Pair& pair : pairs) {
        check(pair.answers == repeats && pair.answered == repeats,
              std::to_string(pair.answered) + " pings and " + std::to_string(pair.answers) + " replies of "
                  + std::to_string(repeats) + " each came");
    }
    return {actors, 2 * pairs.size() * repeats, took};
}

}  // namespace pingpong
