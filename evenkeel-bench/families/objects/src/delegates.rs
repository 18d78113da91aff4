//! Objects that accept delegated operations: a task publishes its operation, stays on its worker,
//! and checks for the result after other tasks had a turn. These prototypes compare travelling with
//! sending the operation alone.
//!
//! *Combining*: any task that finds the object free makes its own operation and all published ones
//! (flat combining: Hendler, Incze, Shavit and Tzafrir, "Flat Combining and the
//! Synchronization-Parallelism Tradeoff", SPAA 2010). *Shipping*: only tasks of the object's home
//! worker make the operations (RCL: Lozi, David, Thomas, Lawall and Muller, "Remote Core Locking",
//! USENIX ATC 2012; ffwd: Roghanchi, Eriksson and Basu, SOSP 2017).
//!
//! A request has cache lines of its own, and a bit announces it. The combiner reads the request and
//! writes the result: one line goes back and forth, where a lock moves its own line and the
//! value's.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use evenkeel::object::EnterError;
use parking_lot::Mutex;

use super::party::{Hand, Party, Tally};
use super::work::{Done, Held, Kind, Work};
use suite::kit::random::Random;

thread_local! {
    /// The number of the worker that runs this thread.
    static WORKER: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Records that this thread is worker `number`.
pub(super) fn note_worker(number: usize) {
    WORKER.set(Some(number));
}

/// Requests per word of bits.
const BITS: usize = u64::BITS as usize;

/// What one party asks for, and the result.
#[derive(Default)]
struct Request {
    /// The party's hand, before and after the operation.
    random: AtomicU64,
    at: AtomicU32,
    added: AtomicU64,
    right: AtomicBool,
    is_done: AtomicBool,
    object: AtomicU32,
}

impl Request {
    fn put(&self, object: usize, hand: &Hand) {
        self.object.store(object as u32, Ordering::Relaxed);
        self.random.store(hand.random.state(), Ordering::Relaxed);
        self.at.store(hand.at, Ordering::Relaxed);
        self.is_done.store(false, Ordering::Relaxed);
    }

    fn hand(&self) -> Hand {
        let random = Random::from_state(self.random.load(Ordering::Relaxed));
        Hand { random, at: self.at.load(Ordering::Relaxed) }
    }

    fn finish(&self, hand: &Hand, done: Done) {
        self.random.store(hand.random.state(), Ordering::Relaxed);
        self.at.store(hand.at, Ordering::Relaxed);
        self.added.store(done.added, Ordering::Relaxed);
        self.right.store(done.right, Ordering::Relaxed);
        self.is_done.store(true, Ordering::Release);
    }

    fn result(&self) -> Done {
        let right = self.right.load(Ordering::Relaxed);
        Done { added: self.added.load(Ordering::Relaxed), right }
    }
}

/// All objects, and the desks where parties publish operations: one desk per object, or one per
/// home.
pub(super) struct Delegates<T> {
    objects: Box<[CachePadded<Mutex<T>>]>,
    desks: Box<[CachePadded<Box<[AtomicU64]>>]>,
    /// One per party, because a party waits for each operation.
    requests: Box<[CachePadded<Request>]>,
    /// The number of workers that are homes of the objects, in turn; `None` if any task may
    /// combine.
    homes: Option<usize>,
    /// Parties that have not finished.
    unfinished: AtomicUsize,
}

impl<T: Send> Delegates<T> {
    pub(super) fn new<W: Work<Value = T>>(
        work: W,
        objects: usize,
        parties: usize,
        homes: Option<usize>,
    ) -> Self {
        let desk =
            |_| CachePadded::new((0..parties.div_ceil(BITS)).map(|_| AtomicU64::new(0)).collect());
        Self {
            objects: (0..objects)
                .map(|number| CachePadded::new(Mutex::new(work.make(number))))
                .collect(),
            desks: (0..homes.unwrap_or(objects)).map(desk).collect(),
            requests: (0..parties).map(|_| CachePadded::default()).collect(),
            homes,
            unfinished: AtomicUsize::new(parties),
        }
    }

    pub(super) fn held<K: Kind<Value = T>>(&self, kind: K) -> Held {
        self.objects.iter().map(|object| Held::by(kind, &object.lock())).sum()
    }

    /// Makes all operations published at a desk, with `operate`.
    fn serve(&self, desk: usize, mut operate: impl FnMut(usize, &mut Hand) -> Done) {
        for (word, published) in self.desks[desk].iter().enumerate() {
            if published.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut bits = published.swap(0, Ordering::Acquire);
            while bits != 0 {
                let request = &self.requests[word * BITS + bits.trailing_zeros() as usize];
                bits &= bits - 1;
                let mut hand = request.hand();
                let object = request.object.load(Ordering::Relaxed) as usize;
                let done = operate(object, &mut hand);
                request.finish(&hand, done);
            }
        }
    }

    /// Makes the operations sent to the caller's worker.
    fn serve_home<W: Work<Value = T>>(&self, work: W) {
        if let Some(me) = WORKER.get().filter(|_| self.homes.is_some()) {
            self.serve(me, |object, hand| work.operate(&mut self.objects[object].lock(), hand));
        }
    }

    /// If the object is free, makes the caller's operation on it and all that others have
    /// published.
    fn try_combine<W: Work<Value = T>>(
        &self,
        work: W,
        number: usize,
        own: Option<&mut Hand>,
    ) -> Option<Done> {
        let mut value = self.objects[number].try_lock()?;
        let done = own.map(|hand| work.operate(&mut value, hand));
        self.serve(number, |_, hand| work.operate(&mut value, hand));
        done
    }

    /// One operation of party `me` on the object of this number.
    async fn operate<W: Work<Value = T>>(
        &self,
        work: W,
        me: usize,
        number: usize,
        hand: &mut Hand,
    ) -> Done {
        let home = self.homes.map(|homes| number % homes);
        self.serve_home(work);
        if home.is_some() && home == WORKER.get() {
            return work.operate(&mut self.objects[number].lock(), hand);
        }
        if home.is_none()
            && let Some(done) = self.try_combine(work, number, Some(hand))
        {
            return done;
        }
        let request = &self.requests[me];
        request.put(number, hand);
        let desk = &self.desks[home.unwrap_or(number)];
        desk[me / BITS].fetch_or(1 << (me % BITS), Ordering::Release);
        loop {
            evenkeel::yield_now().await;
            if request.is_done.load(Ordering::Acquire) {
                *hand = request.hand();
                return request.result();
            }
            match home {
                Some(_) => self.serve_home(work),
                None => drop(self.try_combine(work, number, None)),
            }
        }
    }
}

/// The body of a task: operations on one object after another until the run is over.
pub(super) async fn party<W: Work>(
    work: W,
    shared: Arc<Delegates<W::Value>>,
    me: usize,
    mut party: Party,
) -> Result<Tally, EnterError> {
    while let Some(number) = party.next(work) {
        let done = shared.operate(work, me, number, &mut party.hand).await;
        party.count(done);
        if party.gives_way() {
            evenkeel::yield_now().await;
        }
    }
    // Only this worker's tasks can make what others have sent to it.
    shared.unfinished.fetch_sub(1, Ordering::Relaxed);
    while shared.homes.is_some() && shared.unfinished.load(Ordering::Relaxed) > 0 {
        shared.serve_home(work);
        evenkeel::yield_now().await;
    }
    Ok(party.into_tally())
}
