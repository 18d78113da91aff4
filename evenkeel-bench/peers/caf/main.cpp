// Runs the suite's actor benchmarks on CAF and prints one JSON line for each run.
//
// Exit status: 0 if every run passed its own check; 1, without a line, if a run failed it; 2 if the
// flags make no sense.

#include "actor_memory.hpp"
#include "actor_spawn.hpp"
#include "fanin.hpp"
#include "latency_probe.hpp"
#include "pingpong.hpp"
#include "settings.hpp"

#include <cstdio>
#include <iostream>
#include <set>
#include <sstream>

namespace {

class Peer {
public:
    Peer(caf::actor_system& system, const Settings& given) : system_(system), given_(given) {}

    void go() {
        for (std::size_t rep = 0; rep < given_.reps(); rep++) {
            once(given_);
        }
        if (given_.reps() == 0) {
            serve();
        }
    }

private:
    void serve() {
        for (std::string line; std::getline(std::cin, line);) {
            std::istringstream stream(line);
            Settings::Words words;
            for (std::string word; stream >> word;) {
                words.push_back(word);
            }
            Settings settings = given_;
            settings.read(words);
            settings.same_process(given_);
            once(settings);
        }
    }

    // Makes one run that counts, after a warm-up run if these settings are new.
    void once(const Settings& settings) {
        if (settings.bench == "actor_memory") {
            if (measured_memory_) {
                throw Refused("actor_memory is measured once per process: what the first run left would count as free");
            }
            measured_memory_ = true;
        } else if (warm_.insert(settings.key()).second) {
            run(settings);
        }
        print(settings, run(settings));
    }

    Outcome run(const Settings& settings) {
        if (settings.bench == "latency_probe") {
            return latency_probe::run(system_, settings);
        }
        if (settings.bench == "pingpong") {
            return pingpong::run(system_, settings);
        }
        if (settings.bench == "fanin") {
            return fanin::run(system_, settings);
        }
        if (settings.bench == "actor_spawn") {
            return actor_spawn::run(system_, settings);
        }
        if (settings.bench == "actor_memory") {
            return actor_memory::run(system_, settings);
        }
        throw Refused("--bench is missing: known are " + Settings::benches());
    }

    static void print(const Settings& settings, const Outcome& outcome) {
        char bytes[64] = "null";
        if (outcome.bytes_per_actor >= 0) {
            std::snprintf(bytes, sizeof bytes, "%.1f", outcome.bytes_per_actor);
        }
        std::printf("{\"runtime\":\"caf\",\"bench\":\"%s\",\"workers\":%zu,\"actors\":%zu,\"messages\":%zu,"
                    "\"seconds\":%.9f,\"bytes_per_actor\":%s,\"heap_bytes_per_actor\":null,\"checked\":true}\n",
                    settings.bench.c_str(), settings.workers(), outcome.actors, outcome.messages,
                    std::chrono::duration<double>(outcome.took).count(), bytes);
        std::fflush(stdout);
    }

    caf::actor_system& system_;
    const Settings& given_;
    std::set<std::string> warm_;
    bool measured_memory_ = false;
};

}  // namespace

int main(int count, char** arguments) {
    try {
        Settings given;
        given.read({arguments + 1, arguments + count});
        caf::actor_system_config config;
        // The other settings are CAF's own; README.md has the figures of rejected ones.
        config.set("scheduler.max-threads", given.workers());
        caf::actor_system system(config);
        Peer(system, given).go();
    } catch (const Refused& refused) {
        std::fprintf(stderr, "evenkeel-peer: %s\n", refused.what());
        return 2;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "evenkeel-peer: %s\n", failure.what());
        return 1;
    }
    return 0;
}
