import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.IntPredicate;

/**
 * Makes one run of the suite's experiment {@code latency} on virtual threads and prints one JSON
 * line.
 *
 * <p>Exit status: 0 with exactly one line on standard output; 1 if the run failed its own check,
 * with a message on standard error and no line; 2 if the flags make no sense.
 */
public final class Latency {
    /** The longest time for threads to park or to end, in nanoseconds. */
    private static final long LIMIT = 10_000_000_000L;
    /** How often the sender checks whether all threads have run or ended, in nanoseconds. */
    private static final long LOOK = 500_000L;
    /** The resolution of the random pauses, as a share of one. */
    private static final int GRAIN = 1 << 20;
    /** A time that has not been written. */
    private static final long NONE = Long.MAX_VALUE;
    /** Parts of the run, and the row of threads that never ran. */
    private static final int COLUMNS = 40, NEVER = 63;
    /** The fewest delays of which 1 in 100, and 1 in 1,000, is a figure. */
    private static final int ENOUGH_99 = 100, ENOUGH_999 = 1_000;
    /** The events of the warm-up, and their rate: the compiler has compiled all of it by then. */
    private static final int WARM_EVENTS = 5_000, WARM_RATE = 10_000;

    private static final int WAKE = 0, SPAWN = 1, COMPUTE = 2, BLOCK = 3;

    /** The settings of a run. */
    private record Config(
            String variant, int workers, int events, int rate, int computes, long computeNs,
            int blocks, long blockMs, long everyMs, long warmUpMs, long patienceMs, long seed) {}

    /** What is sent, at its time after the first, in nanoseconds. */
    private record Call(long at, int kind, int number) {}

    /** One light thread: when it was woken or started, and its delay, in nanoseconds. */
    private static final class Light {
        volatile long sent = NONE;
        volatile long delay = NONE;
        Thread thread;
    }

    private final Config config;
    private final Light[] wakes, spawns;
    private final AtomicInteger parked = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger twice = new AtomicInteger();
    private final AtomicInteger alive = new AtomicInteger();
    private volatile boolean over;

    private Latency(Config config) {
        this.config = config;
        wakes = lights(config.events());
        spawns = lights(config.events());
    }

    private static Light[] lights(int count) {
        Light[] lights = new Light[count];
        Arrays.setAll(lights, number -> new Light());
        return lights;
    }

    public static void main(String[] arguments) {
        Config config;
        try {
            config = parse(arguments);
        } catch (IllegalArgumentException error) {
            System.err.println("Latency: " + error.getMessage());
            System.exit(2);
            return;
        }
        try {
            Config warm = new Config("alone", config.workers(), WARM_EVENTS, WARM_RATE, 0, 0, 0, 0, 1, 0,
                    config.patienceMs(), 1);
            new Latency(warm).run();
            System.out.println(new Latency(config).run());
            // No thread outlives a run, so this ends nothing early.
            System.out.flush();
            Runtime.getRuntime().halt(0);
        } catch (Throwable error) {
            System.err.println("Latency: " + error.getMessage());
            System.err.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private static Config parse(String[] arguments) {
        Map<String, String> flags = new HashMap<>();
        for (int place = 0; place + 1 < arguments.length; place += 2) {
            flags.put(arguments[place], arguments[place + 1]);
        }
        String variant = flags.getOrDefault("--variant", "alone");
        if (!List.of("alone", "compute", "block-one", "block-all", "ready").contains(variant)) {
            throw new IllegalArgumentException("unknown variant `" + variant + "`");
        }
        return new Config(variant, number(flags, "--workers", 1), number(flags, "--events", 2_000),
                number(flags, "--rate", 1_000), number(flags, "--computes", 0),
                number(flags, "--compute-us", 1_000) * 1_000L, number(flags, "--blocks", 0),
                number(flags, "--block-ms", 100), number(flags, "--block-every-ms", 101),
                number(flags, "--warm-up-ms", 30), number(flags, "--patience-ms", 2_000),
                Long.parseUnsignedLong(flags.getOrDefault("--seed", "1")));
    }

    private static int number(Map<String, String> flags, String flag, int usual) {
        return Integer.parseInt(flags.getOrDefault(flag, Integer.toString(usual)));
    }

    /** Makes the run, and returns the line. */
    private String run() throws Exception {
        for (Light light : wakes) {
            light.thread = spawn(() -> {
                parked.incrementAndGet();
                while (light.sent == NONE) {
                    LockSupport.park();
                }
                ran(light);
            });
        }
        int events = config.events();
        if (await(parked::get, count -> count == events, LIMIT) < events) {
            throw new IllegalStateException("not all threads have parked");
        }
        List<Call> calls = calls();
        load();
        Thread.sleep(config.warmUpMs());
        long first = System.nanoTime();
        double late = send(calls);
        long last = System.nanoTime();
        await(ran::get, count -> count == 2 * events, config.patienceMs() * 1_000_000);
        String line = String.format(Locale.ROOT,
                "{\"seconds\":%f,\"wakes\":%s,\"spawns\":%s,\"sender_us\":%.3f}",
                (last - first) / 1e9, summary(wakes, first, last), summary(spawns, first, last),
                late);
        over = true;
        int left = await(alive::get, count -> count == 0, LIMIT);
        if (left != 0) {
            throw new IllegalStateException(left + " threads have not ended after the stop");
        }
        if (ran.get() != 2 * events || twice.get() != 0) {
            throw new IllegalStateException(ran + " light threads ran instead of " + 2 * events);
        }
        return line;
    }

    /** Starts a virtual thread that is counted. */
    private Thread spawn(Runnable body) {
        alive.incrementAndGet();
        return Thread.startVirtualThread(() -> {
            try {
                body.run();
            } finally {
                alive.decrementAndGet();
            }
        });
    }

    private void ran(Light light) {
        long delay = System.nanoTime() - light.sent;
        if (light.delay != NONE) {
            twice.incrementAndGet();
        }
        light.delay = Math.max(delay, 0);
        ran.incrementAndGet();
    }

    /** Starts what runs beside the light threads until the end. */
    private void load() {
        // Semaphores that always have a permit, two for each worker.
        int loops = config.variant().equals("ready") ? 2 * config.workers() : 0;
        for (int loop = 0; loop < loops; loop++) {
            spawn(() -> {
                Semaphore permits = new Semaphore(1);
                while (!over) {
                    permits.acquireUninterruptibly();
                    permits.release();
                }
            });
        }
    }

    /** The same list as the suite's own process makes of the same settings. */
    private List<Call> calls() {
        double period = 1.0 / config.rate();
        List<Call> calls = new ArrayList<>();
        for (int number = 0; number < config.events(); number++) {
            calls.add(new Call((long) (number * period * 1e9), WAKE, number));
            calls.add(new Call((long) ((number + 0.5) * period * 1e9), SPAWN, number));
        }
        // The suite's own generator, Marsaglia's 64-bit xorshift, as task 0 draws from it.
        long mixed = config.seed() * 0x9e3779b97f4a7c15L;
        long state = (mixed ^ (mixed >>> 29)) | 1;
        double next = 0;
        while (config.computes() > 0) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            long below = Math.unsignedMultiplyHigh(state, GRAIN);
            next -= Math.log((below + 1.0) / GRAIN) / config.computes();
            if (next >= config.events() * period) {
                break;
            }
            calls.add(new Call((long) (next * 1e9), COMPUTE, 0));
        }
        for (long at = 0; at / 1e9 < config.events() * period; at += config.everyMs() * 1_000_000) {
            for (int block = 0; block < config.blocks(); block++) {
                calls.add(new Call(at, BLOCK, 0));
            }
        }
        calls.sort(Comparator.comparingLong(Call::at));
        return calls;
    }

    /**
     * Makes all calls from this thread, which is a platform thread, and returns the lateness that
     * 999 of 1,000 do not exceed, in microseconds.
     */
    private double send(List<Call> calls) {
        long began = System.nanoTime();
        long[] late = new long[calls.size()];
        int made = 0;
        for (Call call : calls) {
            long pause = call.at() - (System.nanoTime() - began);
            while (pause > 0) {
                LockSupport.parkNanos(pause);
                pause = call.at() - (System.nanoTime() - began);
            }
            late[made++] = System.nanoTime() - began - call.at();
            switch (call.kind()) {
                case WAKE -> {
                    Light light = wakes[call.number()];
                    light.sent = System.nanoTime();
                    LockSupport.unpark(light.thread);
                }
                case SPAWN -> {
                    Light light = spawns[call.number()];
                    alive.incrementAndGet();
                    Runnable body = () -> {
                        ran(light);
                        alive.decrementAndGet();
                    };
                    light.sent = System.nanoTime();
                    Thread.startVirtualThread(body);
                }
                case BLOCK -> spawn(() -> Native.block(config.blockMs()));
                default -> spawn(() -> {
                    long started = System.nanoTime();
                    while (System.nanoTime() - started < config.computeNs()) {
                        Thread.onSpinWait();
                    }
                });
            }
        }
        Arrays.sort(late);
        return late[rank(late.length, 0.999) - 1] / 1e3;
    }

    /** Waits until a count is enough or the time is over, and returns the count. */
    private static int await(IntSupplier count, IntPredicate isEnough, long limit) {
        long started = System.nanoTime();
        while (true) {
            int seen = count.getAsInt();
            if (isEnough.test(seen) || System.nanoTime() - started > limit) {
                return seen;
            }
            LockSupport.parkNanos(LOOK);
        }
    }

    private static int rank(int count, double share) {
        return Math.max((int) Math.ceil(share * count - 1e-9), 1);
    }

    /** Summarises light threads: a percentile that falls on one that never ran is null. */
    private static String summary(Light[] lights, long first, long last) {
        int[][] cells = new int[COLUMNS][NEVER + 1];
        long[] delays = new long[lights.length];
        int count = 0;
        for (Light light : lights) {
            long sent = light.sent, delay = light.delay;
            long at = Math.max((sent == NONE ? last : sent) - first, 0);
            int row = NEVER;
            if (delay != NONE) {
                delays[count++] = delay;
                row = Math.min(63 - Long.numberOfLeadingZeros(Math.max(delay, 1)), NEVER - 1);
            }
            cells[(int) Math.min(at * COLUMNS / Math.max(last - first, 1), COLUMNS - 1)][row]++;
        }
        long[] ran = Arrays.copyOf(delays, count);
        Arrays.sort(ran);
        List<String> heat = new ArrayList<>();
        for (int column = 0; column < COLUMNS; column++) {
            for (int row = 0; row <= NEVER; row++) {
                if (cells[column][row] > 0) {
                    heat.add("[" + column + "," + row + "," + cells[column][row] + "]");
                }
            }
        }
        int all = lights.length;
        return String.format(Locale.ROOT,
                "{\"count\":%d,\"never\":%d,\"p50\":%s,\"p99\":%s,\"p999\":%s,\"max\":%s,\"heat\":[%s]}",
                all, all - count, micros(ran, all, 0.5),
                all < ENOUGH_99 ? "null" : micros(ran, all, 0.99),
                all < ENOUGH_999 ? "null" : micros(ran, all, 0.999), micros(ran, all, 1),
                String.join(",", heat));
    }

    private static String micros(long[] sorted, int count, double share) {
        int rank = rank(count, share);
        return rank > sorted.length ? "null" : String.format(Locale.ROOT, "%.3f", sorted[rank - 1] / 1e3);
    }

    /** Calls of C functions. */
    private static final class Native {
        private static final MethodHandle USLEEP = usleep();

        private static MethodHandle usleep() {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().find("usleep").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        }

        /**
         * Blocks the carrier: a virtual thread stays on its carrier while it is inside a C function.
         * Thread.sleep would block the virtual thread alone.
         */
        static void block(long millis) {
            try {
                int ignored = (int) USLEEP.invokeExact((int) (millis * 1_000));
            } catch (Throwable error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
