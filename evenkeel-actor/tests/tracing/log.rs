//! A subscriber that records everything. The tests of this process share it, and find their own
//! actors by type.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, ThreadId};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The fields of a span or an event, as text. An event's field `message` holds its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Fields {
    /// A field's value; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns a field as a number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(|number| number.parse().unwrap())
    }

    /// Whether it concerns an actor of a type with this name.
    pub(crate) fn is_of(&self, actor: &str) -> bool {
        self.get("actor.type").ends_with(actor)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) what: What,
    pub(crate) thread: ThreadId,
    /// The thread's spans at the time, the innermost last.
    pub(crate) within: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Span { id: u64, name: &'static str, has_parent: bool, fields: Fields },
    Enter(u64),
    Exit(u64),
    Event { level: Level, target: &'static str, fields: Fields },
}

#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<Noted>>);

thread_local! {
    static WITHIN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

static LOG: OnceLock<Log> = OnceLock::new();

/// The log of this process.
pub(crate) fn log() -> &'static Log {
    let log = LOG.get_or_init(Log::default);
    // The first test to come sets it.
    drop(tracing::subscriber::set_global_default(log));
    log
}

impl Log {
    fn note(&self, what: What) {
        let within = WITHIN.with_borrow(Clone::clone);
        self.0.lock().unwrap().push(Noted { what, thread: thread::current().id(), within });
    }

    pub(crate) fn all(&self) -> Vec<Noted> {
        self.0.lock().unwrap().clone()
    }

    /// The spans of a name for actors of a type, in the order of their creation.
    pub(crate) fn spans(&self, name: &str, actor: &str) -> Vec<(u64, Fields)> {
        let mut spans = Vec::new();
        for noted in self.all() {
            if let What::Span { id, name: own, has_parent, fields } = noted.what
                && own == name
                && fields.is_of(actor)
            {
                assert!(!has_parent);
                spans.push((id, fields));
            }
        }
        spans
    }

    /// The events with these words.
    pub(crate) fn events(&self, words: &str) -> Vec<(Level, Fields, Noted)> {
        let mut events = Vec::new();
        for noted in self.all() {
            if let What::Event { level, fields, .. } = &noted.what
                && fields.get("message") == words
            {
                events.push((*level, fields.clone(), noted.clone()));
            }
        }
        events
    }
}

impl Subscriber for &'static Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("evenkeel_actor") || metadata.target() == "test"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut fields = Fields::default();
        span.record(&mut fields);
        let has_parent = !span.is_root();
        self.note(What::Span { id, name: span.metadata().name(), has_parent, fields });
        Id::from_u64(id)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        self.note(What::Event { level, target, fields });
    }

    fn enter(&self, span: &Id) {
        self.note(What::Enter(span.into_u64()));
        WITHIN.with_borrow_mut(|within| within.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let left = WITHIN.with_borrow_mut(Vec::pop);
        assert_eq!(left, Some(span.into_u64()), "spans are left in turn");
        self.note(What::Exit(span.into_u64()));
    }
}
