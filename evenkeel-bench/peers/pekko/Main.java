import com.typesafe.config.ConfigFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.actor.ActorSystem;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * Runs the suite's actor benchmarks on Pekko's classic actors and prints one JSON line for each run.
 *
 * <p>Exit status: 0 if every run passed its own check; 1, without a line, if a run failed it; 2 if the flags make no
 * sense.
 */
public final class Main {
    /** Runs before the first that counts: from the fifth on the times are even, because the compilers are done. */
    private static final int WARM_UPS = 5;

    private final Settings given;
    private final ActorSystem system;
    private final Set<String> warm = new HashSet<>();
    private boolean measuredMemory;

    private Main(Settings given) {
        this.given = given;
        this.system = ActorSystem.create("peer", ConfigFactory.parseString(dispatchers(given.workers())));
    }

    /** The dispatchers of the actors, and a small one for the system's own. */
    private static String dispatchers(int workers) {
        return """
            pekko {
              log-dead-letters = off
              stdout-loglevel = "ERROR"
              loglevel = "ERROR"
              coordinated-shutdown.run-by-jvm-shutdown-hook = off
              actor.internal-dispatcher.fork-join-executor { parallelism-min = 1, parallelism-max = 1 }
            }
            """
            // README.md has the figures of the throughputs, in messages of one actor per turn.
            + dispatcher(Fleet.DISPATCHER, workers, 100)
            + dispatcher(FanIn.DISPATCHER, workers, 1024);
    }

    private static String dispatcher(String name, int workers, int throughput) {
        return """
            %1$s {
              type = Dispatcher
              executor = "fork-join-executor"
              fork-join-executor { parallelism-min = %2$d, parallelism-max = %2$d }
              throughput = %3$d
              mailbox-type = "org.apache.pekko.dispatch.SingleConsumerOnlyUnboundedMailbox"
            }
            """.formatted(name, workers, throughput);
    }

    public static void main(String[] arguments) {
        Main main = null;
        try {
            main = new Main(Settings.parse(List.of(arguments), null));
            main.go();
            main.end();
        } catch (Settings.Refused refused) {
            System.err.println("evenkeel-peer: " + refused.getMessage());
            System.exit(2);
        } catch (Exception failure) {
            System.err.println("evenkeel-peer: " + failure.getMessage());
            System.exit(1);
        }
    }

    private void go() throws Exception {
        if (given.reps() > 0) {
            for (int rep = 0; rep < given.reps(); rep++) {
                once(given);
            }
            return;
        }
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            List<String> words = line.isBlank() ? List.of() : List.of(line.trim().split("\\s+"));
            once(Settings.parse(words, given));
        }
    }

    /** Makes one run that counts, after the warm-up if these settings are new. */
    private void once(Settings settings) throws Exception {
        if (settings.bench().equals("actor_memory")) {
            if (measuredMemory) {
                throw new Settings.Refused("actor_memory is measured once per process: what the first run left would count as free");
            }
            measuredMemory = true;
        } else if (warm.add(settings.toString())) {
            for (int run = 0; run < WARM_UPS; run++) {
                run(settings);
            }
        }
        System.out.println(run(settings).json(settings));
        System.out.flush();
    }

    private Outcome run(Settings settings) throws Exception {
        return switch (settings.bench()) {
            case "latency_probe" -> LatencyProbe.run(system, settings);
            case "pingpong" -> PingPong.run(system, settings);
            case "fanin" -> FanIn.run(system, settings);
            case "actor_spawn" -> ActorSpawn.run(system, settings);
            case "actor_memory" -> ActorMemory.run(system, settings);
            default -> throw new Settings.Refused("--bench is missing: known are " + Settings.BENCHES);
        };
    }

    private void end() throws IOException, InterruptedException, TimeoutException {
        system.terminate();
        Await.ready(system.whenTerminated(), Duration.create(60, TimeUnit.SECONDS));
    }
}
