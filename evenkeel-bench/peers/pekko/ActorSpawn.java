import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Actors are spawned, receive one message each, and stop: all alive at once, or in waves. */
final class ActorSpawn {
    /** Actors of a wave. */
    private static final int WAVE = 1_000;

    private static final Object NEXT = new Object();
    private static final Object STOP = new Object();

    private ActorSpawn() {}

    /** The counts of a run's actors. */
    private static final class Counts {
        private final int actors;
        private final int wave;
        private final AtomicInteger handled = new AtomicInteger();
        private final AtomicInteger stopped = new AtomicInteger();
        private final CountDownLatch done = new CountDownLatch(1);

        Counts(int actors, int wave) {
            this.actors = actors;
            this.wave = wave;
        }
    }

    private static final class Child extends UntypedAbstractActor {
        private final Counts counts;
        private final ActorRef parent;

        Child(Counts counts, ActorRef parent) {
            this.counts = counts;
            this.parent = parent;
        }

        @Override
        public void onReceive(Object message) {
            counts.handled.incrementAndGet();
            getContext().stop(getSelf());
        }

        @Override
        public void postStop() {
            int stopped = counts.stopped.incrementAndGet();
            if (stopped == counts.actors) {
                counts.done.countDown();
            } else if (stopped % counts.wave == 0) {
                parent.tell(NEXT, ActorRef.noSender());
            }
        }
    }

    private static final class Parent extends UntypedAbstractActor {
        private final Props props;
        private final ActorRef[] children;
        private int left;

        Parent(Counts counts) {
            this.left = counts.actors;
            this.children = new ActorRef[counts.wave];
            ActorRef self = getSelf();
            this.props = Fleet.props(Fleet.DISPATCHER, () -> new Child(counts, self));
        }

        @Override
        public void onReceive(Object message) {
            int wave = Math.min(left, children.length);
            for (int at = 0; at < wave; at++) {
                children[at] = getContext().actorOf(props);
            }
            for (int at = 0; at < wave; at++) {
                children[at].tell(STOP, ActorRef.noSender());
            }
            left -= wave;
        }
    }

    static Outcome run(ActorSystem system, Settings settings) throws InterruptedException {
        int actors = settings.actors();
        Counts counts = new Counts(actors, settings.waves() ? Math.min(WAVE, actors) : actors);
        ActorRef[] parent = new ActorRef[1];
        Fleet fleet = new Fleet(system, parent, index -> new Parent(counts));
        long started = System.nanoTime();
        parent[0].tell(NEXT, ActorRef.noSender());
        counts.done.await();
        long took = System.nanoTime() - started;
        fleet.stop();
        Outcome.check(counts.handled.get() == actors && counts.stopped.get() == actors,
            counts.handled.get() + " actors of " + actors + " had their message, " + counts.stopped.get() + " stopped");
        return new Outcome(actors, actors, took);
    }
}
