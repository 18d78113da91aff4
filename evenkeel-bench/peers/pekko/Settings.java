import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings of a run, from the flags. */
final class Settings {
    static final List<String> BENCHES =
        List.of("latency_probe", "pingpong", "fanin", "actor_spawn", "actor_memory");

    /** The numbers with their defaults and bounds, which keep a mistyped number from exhausting the machine. */
    private record Number(String flag, long preset, long least, long most) {}

    private static final List<Number> NUMBERS = List.of(
        new Number("--workers", 1, 1, 1024),
        new Number("--actors-per-worker", 100, 1, 10_000),
        new Number("--pings", 40_000, 1, 1_000_000_000),
        new Number("--pairs", 0, 1, 100_000),
        new Number("--repeats", 1_000_000, 1, 1_000_000_000),
        new Number("--in-flight", 1_000, 1, 1_000_000),
        new Number("--producers", 0, 2, 100_000),
        new Number("--messages", 200_000, 1, 1_000_000_000),
        new Number("--actors", 200_000, 1, 10_000_000),
        new Number("--reps", 1, 0, 100_000));

    /** Reports flags that make no sense. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String why) {
            super(why);
        }
    }

    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private String bench = "";
    private String mode = "";

    private Settings() {}

    /** Reads flags; the other settings are those of {@code others}, or the defaults. */
    static Settings parse(List<String> words, Settings others) throws Refused {
        Settings settings = new Settings();
        for (Number number : NUMBERS) {
            settings.numbers.put(number.flag, others == null ? number.preset : others.numbers.get(number.flag));
        }
        settings.bench = others == null ? "" : others.bench;
        settings.mode = others == null ? "" : others.mode;
        for (int at = 0; at < words.size(); at += 2) {
            String flag = words.get(at);
            boolean known = flag.equals("--bench") || flag.equals("--mode") || settings.numbers.containsKey(flag);
            if (!known) {
                throw new Refused("unknown flag `" + flag + "`: known are --bench, --mode, "
                    + String.join(", ", settings.numbers.keySet()));
            }
            if (at + 1 == words.size()) {
                throw new Refused(flag + " needs a value");
            }
            settings.set(flag, words.get(at + 1));
        }
        settings.check(others);
        return settings;
    }

    private void set(String flag, String value) throws Refused {
        switch (flag) {
            case "--bench" -> {
                if (!BENCHES.contains(value)) {
                    throw new Refused("unknown bench `" + value + "`: known are " + String.join(", ", BENCHES));
                }
                bench = value;
            }
            case "--mode" -> mode = value;
            default -> numbers.put(flag, number(flag, value));
        }
    }

    private static long number(String flag, String value) throws Refused {
        Number bounds = NUMBERS.stream().filter(number -> number.flag.equals(flag)).findFirst().orElseThrow();
        try {
            long number = Long.parseLong(value);
            if (number >= bounds.least && number <= bounds.most) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Refused below, like one out of bounds.
        }
        throw new Refused(flag + " `" + value + "` is not a number from " + bounds.least + " to " + bounds.most);
    }

    private void check(Settings others) throws Refused {
        if (others != null && (workers() != others.workers() || reps() != others.reps())) {
            throw new Refused("--workers and --reps are of the whole process: start another");
        }
        List<String> modes = modes();
        if (!mode.isEmpty() && !modes.contains(mode)) {
            throw new Refused("unknown mode `" + mode + "` of " + bench + ": known are "
                + (modes.isEmpty() ? "none" : String.join(", ", modes)));
        }
        if (bench.isEmpty() && reps() > 0) {
            throw new Refused("--bench is missing: known are " + String.join(", ", BENCHES));
        }
    }

    private List<String> modes() {
        return switch (bench) {
            case "actor_spawn" -> List.of("alive", "waves");
            case "actor_memory" -> List.of("idle", "used");
            default -> List.of();
        };
    }

    private int get(String flag) {
        return Math.toIntExact(numbers.get(flag));
    }

    String bench() {
        return bench;
    }

    int workers() {
        return get("--workers");
    }

    int probers() {
        return workers() * get("--actors-per-worker");
    }

    int pings() {
        return get("--pings");
    }

    int pairs() {
        int pairs = get("--pairs");
        return pairs == 0 ? workers() : pairs;
    }

    int repeats() {
        return get("--repeats");
    }

    int inFlight() {
        return get("--in-flight");
    }

    int producers() {
        int producers = get("--producers");
        return producers == 0 ? 8 * workers() : producers;
    }

    int messages() {
        return get("--messages");
    }

    int actors() {
        return get("--actors");
    }

    int reps() {
        return get("--reps");
    }

    /** Whether actors are spawned in waves, not all before the first message. */
    boolean waves() {
        return mode.equals("waves");
    }

    /** Whether each actor has handled a message before its memory is measured. */
    boolean used() {
        return mode.equals("used");
    }

    @Override
    public String toString() {
        return bench + " " + mode + " " + numbers;
    }
}
