import java.util.Locale;

/** The measurements of a run that passed its check. Negative bytes were not measured. */
record Outcome(long actors, long messages, double seconds, double bytesPerActor, double heapBytesPerActor) {
    Outcome(long actors, long messages, long nanoseconds) {
        this(actors, messages, nanoseconds / 1e9, -1, -1);
    }

    /** Fails the run if it did not pass its own check. */
    static void check(boolean passed, String what) {
        if (!passed) {
            throw new IllegalStateException("check failed: " + what);
        }
    }

    String json(Settings settings) {
        return String.format(
            Locale.ROOT,
            "{\"runtime\":\"pekko\",\"bench\":\"%s\",\"workers\":%d,\"actors\":%d,\"messages\":%d,\"seconds\":%.9f,"
                + "\"bytes_per_actor\":%s,\"heap_bytes_per_actor\":%s,\"checked\":true}",
            settings.bench(), settings.workers(), actors, messages, seconds, bytes(bytesPerActor), bytes(heapBytesPerActor));
    }

    private static String bytes(double bytes) {
        return bytes < 0 ? "null" : String.format(Locale.ROOT, "%.1f", bytes);
    }
}
