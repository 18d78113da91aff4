// Actors are spawned, receive one message each, and stop: all alive at once, or in waves.

#pragma once

#include "outcome.hpp"
#include "settings.hpp"

#include <algorithm>
#include <atomic>

namespace actor_spawn {

struct Shared {
    std::size_t actors;
    std::size_t wave;
    caf::actor spawner;
    Latch done;
    std::atomic<std::size_t> handled{0};
    std::atomic<std::size_t> stopped{0};

    Shared(std::size_t actors, std::size_t wave) : actors(actors), wave(wave), done(1) {}

    void has_stopped() {
        const std::size_t now = stopped.fetch_add(1) + 1;
        if (now == actors) {
            done.count_down();
        } else if (now % wave == 0) {
            caf::anon_send(spawner, start_atom::value);
        }
    }
};

// An actor's state ends with the actor.
struct State {
    Shared* shared = nullptr;
    ~State() { shared->has_stopped(); }
};

inline caf::behavior child(caf::stateful_actor<State>* self, Shared* shared) {
    self->state.shared = shared;
    return {
        [=](ping_atom) {
            shared->handled++;
            self->quit();
        },
    };
}

inline caf::behavior spawner(caf::event_based_actor* self, Shared* shared) {
    return {
        [=](start_atom) {
            const std::size_t count = std::min(shared->wave, shared->actors - shared->stopped);
            std::vector<caf::actor> children;
            children.reserve(count);
            for (std::size_t at = 0; at < count; at++) {
                children.push_back(self->spawn(child, shared));
            }
            for (const caf::actor& one : children) {
                caf::anon_send(one, ping_atom::value);
            }
        },
    };
}

inline Outcome run(caf::actor_system& system, const Settings& settings) {
    const std::size_t actors = settings.actors();
    Shared shared(actors, settings.mode == "waves" ? 1'000 : actors);
    shared.spawner = system.spawn(spawner, &shared);
    const auto started = Clock::now();
    caf::anon_send(shared.spawner, start_atom::value);
    shared.done.wait();
    const auto took = Clock::now() - started;
    std::vector<caf::actor> all{std::move(shared.spawner)};
    end(system, all);
    check(shared.handled == actors && shared.stopped == actors,
          std::to_string(shared.handled) + " actors of " + std::to_string(actors) + " had their message");
    return {actors, actors, took};
}

}  // namespace actor_spawn
