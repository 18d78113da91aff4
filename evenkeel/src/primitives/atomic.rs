//! Atomics, and the orderings that a model may weaken.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};

/// The happens-before edges that a protocol cannot do without.
///
/// Each names one ordering of one access. A loom model runs once as written and once for each of
/// its edges with that ordering weakened to `Relaxed` (or the fence, or the look with a lock, left
/// out); the weakened run has to fail. An edge whose loss no model notices is either superfluous or
/// untested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(loom), allow(dead_code, reason = "only models read the names"))]
pub(crate) enum Edge {
    /// The owner's fence between `busy = true` and its look at `fenced`.
    BiasedLight,
    /// The fence between `busy = true` and the look at `claim` of an owner that is `fenced`.
    BiasedFenced,
    /// The owner's fence after its store that it stops paying.
    BiasedUnfence,
    /// The owner's store that it pays, which the thief relies on.
    BiasedShow,
    /// The thief's fence between `claim` and its looks.
    BiasedClaimed,
    /// The thief's fence between `fenced` and its look at `busy`.
    BiasedHeavy,
    /// The owner's store that ends its operation.
    BiasedLeave,
    /// The thief's look at `busy`.
    BiasedBusy,
    /// The thief's store that ends its claim.
    BiasedUnclaim,
    /// The owner's look at `claim`.
    BiasedClaim,
    /// A waker's change of the state word.
    StateWake,
    /// The poller's first look at the state word.
    StateBegin,
    /// The poller's change of the state word that empties a full field of wakes.
    StateSaturated,
    /// The poller's change of the state word that empties a full field of tokens.
    StateTokens,
    /// The poller's last change of the state word.
    StateEnd,
    /// The completer's change of the state word.
    StateComplete,
    /// The joiner's look at the state word.
    StateJoined,
    /// The joiner's change of the state word of a task that is not complete.
    StateJoin,
    /// The ender's change of the state word of a stuck task.
    StateGiveUp,
    /// The last holder's change before it frees the task.
    StateRelease,
    /// The sender's change of an inbox's head.
    InboxPush,
    /// The receiver's change of an inbox's head.
    InboxTake,
    /// The receiver's look at an inbox's head before it reads since when tasks are there.
    InboxSince,
    /// A signaller's ring of a keeper's bell.
    KeepRing,
    /// The answer to the bell.
    KeepAnswer,
    /// The light fence between a keeper's word that it keeps tasks and its look whether the lookout
    /// rests.
    KeepBegin,
    /// The fence between a push and the look for sleepers.
    IdlePush,
    /// The fence between the announcement of a sleep and the last look at the queues.
    IdleSleep,
    /// The fence of a sleeper between its mark that it is in its set and its look at the call.
    IdleInSet,
    /// The fence of a caller between its call and its look at that mark.
    IdleCallSet,
    /// The looker's note at a socket.
    SourceNote,
    /// The operation's look at that note.
    SourceSeen,
    /// The waker's store that a sleeper is awake.
    IdleWoken,
    /// The sleeper's look at that store.
    IdleAwake,
    /// The fence between a worker's count of tasks that it has taken back and its look whether all
    /// are complete.
    IdleCounted,
    /// A pusher's change of the word that calls the relief.
    ReliefCall,
    /// The relief's change of that word before its last look.
    ReliefRest,
    /// The relief's look at that word while it rests.
    ReliefCalled,
    /// The look at that word by a thread that checks whether the relief rests.
    ReliefResting,
    /// The light fence between a push without a locked instruction, of the only worker or of a task
    /// that it kept, and the worker's look whether it is watched.
    LonePush,
    /// The heavy fence between the end of the lookout's rounds and its last look.
    WatchEnd,
    /// The fence between the lookout's store that it looks for stuck workers, and the look.
    StuckLook,
    /// The fence between a worker's store that it waits inside fork-join, and its look whether the
    /// lookout looks.
    StuckWait,
    /// The heavy fence between the lookout's count of a stuck worker, and its look at what that
    /// worker has armed and sent.
    StuckFind,
    /// The change of a place that calls its spare.
    SpareCall,
    /// The spare's look at its place.
    SpareCalled,
    /// The fence between a timer that a poll has armed, and its look whether all are away.
    TimerArm,
    /// The fence there of a worker that the lookout has counted as away.
    TimerArmAway,
    /// The release of a spin lock.
    SpinUnlock,
    /// The acquisition of a spin lock.
    SpinLock,
    /// A processor's count of its complete tasks.
    CountComplete,
    /// The look at such a count by a thread that checks whether all tasks are complete.
    CountRead,
    /// The count of a complete closure that came from outside.
    OutsideComplete,
    /// The look at the number of such closures.
    OutsideRead,
    /// The store that ends a wait: for a permit, a monitor or a timer.
    WaitEnd,
    /// The waiter's look at that store.
    WaitEnded,
    /// The sender's change of an answer's word.
    AnswerSend,
    /// The receiver's look at that word.
    AnswerLook,
    /// The receiver's change of that word that leaves a waker.
    AnswerWait,
    /// The receiver's change of that word as it goes.
    AnswerClose,
    /// The owner's change of a deque's head at a push.
    DequePush,
    /// The owner's change of a deque's head at a pop.
    DequePop,
    /// The seizer's look at that head.
    DequeHead,
    /// The owner's fence between its change of the head and its look at the seizer's fence.
    DequeLight,
    /// The seizer's fence between closing and its look at the head.
    DequeHeavy,
    /// The change of a deque's word that makes jobs public.
    DequePublish,
    /// The thief's change of that word.
    DequeSteal,
    /// The thief's look at that word, before it looks whether the job that it waits for is
    /// complete.
    DequeLook,
    /// The fence between the request of a thief that is about to sleep and its last look.
    DequeAsked,
    /// The fence between the number that a napping worker leaves and its request.
    NapNumber,
    /// The thief's word that it has taken a job.
    LatchTake,
    /// The owner's look at that word.
    LatchThief,
    /// The thief's word that a job is complete.
    LatchSet,
    /// The owner's look at that word.
    LatchSeen,
    /// The count of a scope's job that is over.
    ScopeOut,
    /// The owner's look whether all jobs of its scope are over.
    ScopeOver,
    /// The word that a worker has left a call from outside.
    CallOver,
    /// The caller's look at that word.
    CallSeen,
    /// The word that a blocked thread is woken.
    BlockWake,
    /// The thread's change of that word.
    BlockWoken,
    /// The waker's change of the mark that a local task is queued.
    LocalWake,
    /// The driver's change of that mark before it polls the task.
    LocalBegin,
    /// The heavy fence between the word that a clock is stopping and its changer's look at the
    /// machine's clock.
    ClockStop,
    /// The light fence between a reader's look at the machine's clock and its second look at that
    /// word.
    ClockRead,
    /// The producer's look at the count of taken values.
    SlotsRoom,
    /// A look at that count for the number of values.
    SlotsLen,
    /// The word that a value has been put.
    SlotsPut,
    /// The taker's look at that word.
    SlotsSeen,
    /// The word that a value has been taken.
    SlotsTaken,
    /// The change of the sum of a worker's times.
    MeterSum,
    /// The word that follows it.
    MeterWord,
    /// The reader's look at that word.
    MeterSeen,
    /// The reader's look at a sum.
    MeterRead,
    /// The store that a token is cancelled.
    TokenSet,
    /// The look at that word.
    TokenSeen,
    /// The store of the word of a line of travelling tasks.
    TravelSend,
    /// The receiver's look at that word.
    TravelReceive,
    /// The receiver's store that lines are taken.
    TravelTaken,
    /// The sender's look at that word.
    TravelRoom,
    /// The store that rings the receiver's bell.
    TravelRing,
    /// The receiver's look at that word.
    TravelHeard,
    /// The sender's fence between a line and its look at the sleepers.
    TravelSent,
    /// The sleeper's fence between its announcement and its look at the lines.
    TravelSleep,
    /// The fence of an object's reader, between its note and its look at the object's word.
    ObjectLight,
    /// The fence of the holder of a shared object, between its lock and its look at the notes.
    ObjectHeavy,
    /// The end of a read.
    ObjectLeave,
    /// The store of an object's note in the place of another one.
    ObjectNote,
    /// The look at the notes of readers.
    ObjectNoted,
    /// The change of an object's word that takes its lock.
    ObjectLock,
    /// The store that gives it back.
    ObjectUnlock,
    /// A reader's look at an object's word.
    ObjectShared,
    /// The handler's addition to the count of a kind of signal.
    SignalCome,
    /// The look at that count.
    SignalSeen,
    /// The listener's second look at that count, with the lock under which it leaves its waker.
    SignalAgain,
}

/// `ordering`, unless a model has weakened `edge`.
#[inline(always)]
pub(crate) fn edge(edge: Edge, ordering: Ordering) -> Ordering {
    #[cfg(loom)]
    if super::mutation::is_weak(edge) {
        return Ordering::Relaxed;
    }
    let _ = edge;
    ordering
}
