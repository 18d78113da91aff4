import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Pairs of a client and a destination, with many pings in flight in each: the rules of Akka's TellThroughput. */
final class PingPong {
    private static final Object START = new Object();
    private static final Object PING = new Object();

    private PingPong() {}

    private static final class Destination extends UntypedAbstractActor {
        private long answered;

        @Override
        public void onReceive(Object message) {
            answered++;
            getSender().tell(message, getSelf());
        }
    }

    private static final class Client extends UntypedAbstractActor {
        private final ActorRef[] all;
        private final int index;
        private final int repeats;
        private final int inFlight;
        private final CountDownLatch done;
        private ActorRef destination;
        private int sent;
        private int answers;

        Client(ActorRef[] all, int index, Settings settings, CountDownLatch done) {
            this.all = all;
            this.index = index;
            this.repeats = settings.repeats();
            this.inFlight = Math.min(settings.inFlight(), repeats);
            this.done = done;
        }

        @Override
        public void onReceive(Object message) {
            if (message == PING) {
                answers++;
                if (sent < repeats) {
                    sent++;
                    destination.tell(PING, getSelf());
                } else if (answers == repeats) {
                    done.countDown();
                }
            } else {
                destination = all[index + 1];
                for (; sent < inFlight; sent++) {
                    destination.tell(PING, getSelf());
                }
            }
        }
    }

    static Outcome run(ActorSystem system, Settings settings) throws InterruptedException {
        // A client at each even index, its destination behind it.
        ActorRef[] all = new ActorRef[2 * settings.pairs()];
        Client[] clients = new Client[settings.pairs()];
        Destination[] destinations = new Destination[settings.pairs()];
        CountDownLatch done = new CountDownLatch(settings.pairs());
        Fleet fleet = new Fleet(system, all, index -> {
            if (index % 2 == 0) {
                return clients[index / 2] = new Client(all, index, settings, done);
            }
            return destinations[index / 2] = new Destination();
        });
        long started = System.nanoTime();
        for (int index = 0; index < all.length; index += 2) {
            all[index].tell(START, ActorRef.noSender());
        }
        done.await();
        long took = System.nanoTime() - started;
        fleet.stop();
        for (int pair = 0; pair < clients.length; pair++) {
            long answers = clients[pair].answers;
            long answered = destinations[pair].answered;
            Outcome.check(answers == settings.repeats() && answered == settings.repeats(),
                answered + " pings and " + answers + " replies of " + settings.repeats() + " each came");
        }
        return new Outcome(all.length, 2L * settings.pairs() * settings.repeats(), took);
    }
}
