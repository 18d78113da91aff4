import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.UntypedAbstractActor;

/** The memory of an idle actor, resident and on the heap, each after a collection. */
final class ActorMemory {
    private static final Object MESSAGE = new Object();

    private ActorMemory() {}

    private static final class Idle extends UntypedAbstractActor {
        private final CountDownLatch handled;

        Idle(CountDownLatch handled) {
            this.handled = handled;
        }

        @Override
        public void onReceive(Object message) {
            handled.countDown();
        }
    }

    static Outcome run(ActorSystem system, Settings settings) throws InterruptedException, IOException {
        int actors = settings.actors();
        long started = System.nanoTime();
        // Loads classes and threads that come with the first actor, which do not count.
        new Fleet(system, new ActorRef[1], index -> new Idle(new CountDownLatch(1))).stop();
        long heapBefore = heap();
        long residentBefore = resident();
        ActorRef[] all = new ActorRef[actors];
        CountDownLatch handled = new CountDownLatch(actors);
        Fleet fleet = new Fleet(system, all, index -> new Idle(handled));
        if (settings.used()) {
            for (ActorRef one : all) {
                one.tell(MESSAGE, ActorRef.noSender());
            }
            handled.await();
        }
        long heap = heap() - heapBefore;
        long resident = resident() - residentBefore;
        long took = System.nanoTime() - started;
        fleet.stop();
        Outcome.check(handled.getCount() == (settings.used() ? 0 : actors), "not every actor had its message");
        double bytes = residentBefore < 0 ? -1 : (double) resident / actors;
        return new Outcome(actors, settings.used() ? actors : 0, took / 1e9, bytes, (double) heap / actors);
    }

    /** Bytes of the heap in use after a collection. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Resident bytes of this process; negative where there is no such file. */
    private static long resident() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return -1;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmRSS:")) {
                return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return -1;
    }
}
