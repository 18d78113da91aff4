// The smallest use of CAF: it needs all that main.cpp needs to compile, to link and to run.

#include <caf/config.hpp>

#if CAF_VERSION < 1700 || CAF_VERSION >= 1800
#error "this CAF is not 0.17, whose atoms and settings the program uses"
#endif

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

int main() {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", std::size_t{1});
    caf::actor_system system(config);
    return system.scheduler().num_workers() == 1 ? 0 : 1;
}
