import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;
import org.apache.pekko.japi.Creator;

/** Actors of one run: children of one parent, so that they are spawned in a row and stopped together. */
final class Fleet {
    /** The dispatcher of most actors. */
    static final String DISPATCHER = "measured";

    /** Makes the actor at an index. */
    interface Maker {
        AbstractActor make(int index);
    }

    private static final class Parent extends UntypedAbstractActor {
        private final ActorRef[] into;
        private final String dispatcher;
        private final Maker maker;
        private final CountDownLatch spawned;
        private final CountDownLatch ended;

        Parent(ActorRef[] into, String dispatcher, Maker maker, CountDownLatch spawned, CountDownLatch ended) {
            this.into = into;
            this.dispatcher = dispatcher;
            this.maker = maker;
            this.spawned = spawned;
            this.ended = ended;
        }

        @Override
        public void preStart() {
            for (int at = 0; at < into.length; at++) {
                int index = at;
                into[at] = getContext().actorOf(props(dispatcher, () -> {
                    AbstractActor actor = maker.make(index);
                    spawned.countDown();
                    return actor;
                }));
            }
            // For the table, which the children may see before it is full.
            spawned.countDown();
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }

        /** Comes after the end of the last child. */
        @Override
        public void postStop() {
            ended.countDown();
        }
    }

    private final ActorSystem system;
    private final ActorRef parent;
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Spawns one actor for each place of the table, fills it, and waits until all actors are made. */
    Fleet(ActorSystem system, ActorRef[] into, Maker maker) throws InterruptedException {
        this(system, into, DISPATCHER, maker);
    }

    /** The same on another dispatcher. */
    Fleet(ActorSystem system, ActorRef[] into, String dispatcher, Maker maker) throws InterruptedException {
        this.system = system;
        CountDownLatch spawned = new CountDownLatch(into.length + 1);
        parent = system.actorOf(props(dispatcher, () -> new Parent(into, dispatcher, maker, spawned, ended)));
        spawned.await();
    }

    /** The properties of an actor on a dispatcher. */
    static Props props(String dispatcher, Creator<AbstractActor> creator) {
        return Props.create(AbstractActor.class, creator).withDispatcher(dispatcher);
    }

    /** Stops all actors and waits for their end, so that the next run starts without them. */
    void stop() throws InterruptedException {
        system.stop(parent);
        ended.await();
    }
}
