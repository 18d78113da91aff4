import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.UntypedAbstractActor;

/**
 * Producers send numbered messages to one consumer. Mailboxes are unbounded, which is faster here than bounded ones; a
 * producer has at most two chunks under way and is told when one is consumed, so memory stays bounded.
 */
final class FanIn {
    /** Messages that a producer sends in a row. */
    private static final int CHUNK = 128;

    /** A dispatcher with a larger batch per turn, for the consumer. */
    static final String DISPATCHER = "fan-in";

    private static final Object GO = new Object();

    private FanIn() {}

    private record Numbered(int producer, int number) {}

    private static final class Producer extends UntypedAbstractActor {
        private final ActorRef[] all;
        private final int index;
        private final int messages;
        private int sent;

        Producer(ActorRef[] all, int index, int messages) {
            this.all = all;
            this.index = index;
            this.messages = messages;
        }

        @Override
        public void onReceive(Object message) {
            ActorRef consumer = all[all.length - 1];
            int end = Math.min(messages - sent, CHUNK) + sent;
            for (; sent < end; sent++) {
                consumer.tell(new Numbered(index, sent), ActorRef.noSender());
            }
        }
    }

    private static final class Consumer extends UntypedAbstractActor {
        private final ActorRef[] all;
        private final int[] next;
        private final long messages;
        private final CountDownLatch done;
        private long came;
        private boolean inOrder = true;

        Consumer(ActorRef[] all, long messages, CountDownLatch done) {
            this.all = all;
            this.next = new int[all.length - 1];
            this.messages = messages;
            this.done = done;
        }

        @Override
        public void onReceive(Object message) {
            Numbered numbered = (Numbered) message;
            int number = next[numbered.producer]++;
            inOrder &= numbered.number == number;
            if (number % CHUNK == CHUNK - 1) {
                all[numbered.producer].tell(GO, ActorRef.noSender());
            }
            came++;
            if (came == messages) {
                done.countDown();
            }
        }
    }

    static Outcome run(ActorSystem system, Settings settings) throws InterruptedException {
        // The consumer follows the producers.
        ActorRef[] all = new ActorRef[settings.producers() + 1];
        long messages = (long) settings.producers() * settings.messages();
        CountDownLatch done = new CountDownLatch(1);
        Consumer[] consumer = new Consumer[1];
        Fleet fleet = new Fleet(system, all, DISPATCHER, index -> {
            if (index < settings.producers()) {
                return new Producer(all, index, settings.messages());
            }
            return consumer[0] = new Consumer(all, messages, done);
        });
        long started = System.nanoTime();
        for (int index = 0; index < settings.producers(); index++) {
            // Two chunks each: the producer sends one while the consumer takes the other.
            all[index].tell(GO, ActorRef.noSender());
            all[index].tell(GO, ActorRef.noSender());
        }
        done.await();
        long took = System.nanoTime() - started;
        fleet.stop();
        Outcome.check(consumer[0].inOrder, "the messages of a producer came out of order");
        Outcome.check(consumer[0].came == messages, consumer[0].came + " messages of " + messages + " came");
        return new Outcome(all.length, messages, took);
    }
}
