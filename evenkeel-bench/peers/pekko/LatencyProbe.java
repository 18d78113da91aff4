import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Each actor has one ping in flight, to a random actor, which answers with an empty reply. */
final class LatencyProbe {
    private static final Object START = new Object();
    private static final Object PING = new Object();
    private static final Object PONG = new Object();

    private LatencyProbe() {}

    private static final class Prober extends UntypedAbstractActor {
        private final ActorRef[] all;
        private final int pings;
        private final CountDownLatch done;
        private int random;
        private int answers;
        private long answered;

        Prober(ActorRef[] all, int index, int pings, CountDownLatch done) {
            this.all = all;
            this.pings = pings;
            this.done = done;
            // Odd, hence never zero, which xorshift would never leave.
            this.random = index * 0x9E3779B9 | 1;
        }

        @Override
        public void onReceive(Object message) {
            if (message == PING) {
                answered++;
                getSender().tell(PONG, getSelf());
            } else if (message == PONG) {
                answers++;
                if (answers < pings) {
                    ping();
                } else {
                    done.countDown();
                }
            } else {
                ping();
            }
        }

        private void ping() {
            random ^= random << 13;
            random ^= random >>> 17;
            random ^= random << 5;
            int target = (int) ((random & 0xFFFFFFFFL) * all.length >>> 32);
            all[target].tell(PING, getSelf());
        }
    }

    static Outcome run(ActorSystem system, Settings settings) throws InterruptedException {
        ActorRef[] all = new ActorRef[settings.probers()];
        Prober[] probers = new Prober[all.length];
        CountDownLatch done = new CountDownLatch(all.length);
        Fleet fleet = new Fleet(system, all, index -> {
            probers[index] = new Prober(all, index, settings.pings(), done);
            return probers[index];
        });
        long started = System.nanoTime();
        for (ActorRef one : all) {
            one.tell(START, ActorRef.noSender());
        }
        done.await();
        long took = System.nanoTime() - started;
        fleet.stop();
        long pings = (long) all.length * settings.pings();
        long answers = 0;
        long answered = 0;
        for (Prober prober : probers) {
            answers += prober.answers;
            answered += prober.answered;
        }
        Outcome.check(answers == pings && answered == pings,
            answered + " pings and " + answers + " replies of " + pings + " each came");
        return new Outcome(all.length, 2 * pings, took);
    }
}
