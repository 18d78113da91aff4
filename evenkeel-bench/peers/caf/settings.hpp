// The settings of a run, from the flags.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Reports flags that make no sense.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Settings {
public:
    using Words = std::vector<std::string>;

    std::string bench;
    std::string mode;

    static std::string benches() { return join({"latency_probe", "pingpong", "fanin", "actor_spawn", "actor_memory"}); }

    // Reads flags; settings without a flag stay as they are.
    void read(const Words& words) {
        for (std::size_t at = 0; at < words.size(); at += 2) {
            const std::string& flag = words[at];
            const bool known = flag == "--bench" || flag == "--mode" || numbers_.count(flag) == 1;
            if (!known) {
                throw Refused("unknown flag `" + flag + "`: known are --bench, --mode, " + flags());
            }
            if (at + 1 == words.size()) {
                throw Refused(flag + " needs a value");
            }
            set(flag, words[at + 1]);
        }
        check();
    }

    // Refuses a change of the process's own settings.
    void same_process(const Settings& given) const {
        if (workers() != given.workers() || reps() != given.reps()) {
            throw Refused("--workers and --reps are of the whole process: start another");
        }
    }

    std::size_t workers() const { return get("--workers"); }
    std::size_t probers() const { return workers() * get("--actors-per-worker"); }
    std::size_t pings() const { return get("--pings"); }
    std::size_t pairs() const { return get("--pairs") == 0 ? workers() : get("--pairs"); }
    std::size_t repeats() const { return get("--repeats"); }
    std::size_t in_flight() const { return get("--in-flight"); }
    std::size_t producers() const { return get("--producers") == 0 ? 8 * workers() : get("--producers"); }
    std::size_t messages() const { return get("--messages"); }
    std::size_t actors() const { return get("--actors"); }
    std::size_t reps() const { return get("--reps"); }

    // Equal exactly for equal settings.
    std::string key() const {
        std::string key = bench + " " + mode;
        for (const auto& [flag, number] : numbers_) {
            key += " " + std::to_string(number.value);
        }
        return key;
    }

private:
    // A number with its bounds, which keep a mistyped number from exhausting the machine. The
    // default 0 means that the number depends on the workers.
    struct Number {
        std::size_t value, least, most;
    };

    std::map<std::string, Number> numbers_ = {
        {"--workers", {1, 1, 1024}},
        {"--actors-per-worker", {100, 1, 10'000}},
        {"--pings", {40'000, 1, 1'000'000'000}},
        {"--pairs", {0, 1, 100'000}},
        {"--repeats", {1'000'000, 1, 1'000'000'000}},
        {"--in-flight", {1'000, 1, 1'000'000}},
        {"--producers", {0, 2, 100'000}},
        {"--messages", {200'000, 1, 1'000'000'000}},
        {"--actors", {200'000, 1, 10'000'000}},
        {"--reps", {1, 0, 100'000}},
    };

    static std::string join(const Words& words) {
        std::string joined;
        for (const std::string& word : words) {
            joined += (joined.empty() ? "" : ", ") + word;
        }
        return joined;
    }

    std::string flags() const {
        Words flags;
        for (const auto& [flag, number] : numbers_) {
            flags.push_back(flag);
        }
        return join(flags);
    }

    std::size_t get(const std::string& flag) const { return numbers_.at(flag).value; }

    void set(const std::string& flag, const std::string& value) {
        if (flag == "--bench") {
            if ((", " + benches() + ",").find(", " + value + ",") == std::string::npos) {
                throw Refused("unknown bench `" + value + "`: known are " + benches());
            }
            bench = value;
        } else if (flag == "--mode") {
            mode = value;
        } else {
            Number& number = numbers_.at(flag);
            char* end = nullptr;
            const unsigned long long read = std::strtoull(value.c_str(), &end, 10);
            const bool whole = !value.empty() && value[0] >= '0' && value[0] <= '9' && *end == '\0';
            if (!whole || read < number.least || read > number.most) {
                throw Refused(flag + " `" + value + "` is not a number from " + std::to_string(number.least) + " to "
                              + std::to_string(number.most));
            }
            number.value = read;
        }
    }

    void check() const {
        Words modes;
        if (bench == "actor_spawn") {
            modes = {"alive", "waves"};
        } else if (bench == "actor_memory") {
            modes = {"idle", "used"};
        }
        bool known = mode.empty();
        for (const std::string& one : modes) {
            known = known || mode == one;
        }
        if (!known) {
            throw Refused("unknown mode `" + mode + "` of " + bench + ": known are "
                          + (modes.empty() ? "none" : join(modes)));
        }
    }
};
