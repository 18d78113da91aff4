//! Series: what a figure is called, what labels it has, and how its value reaches a recorder.

use metrics::{Key, Label, Level, Metadata, Recorder, SharedString, Unit};
use std::time::Duration;

/// What recorders that filter may go by.
static METADATA: Metadata<'static> =
    Metadata::new("evenkeel_metrics", Level::INFO, Some("evenkeel_metrics"));

/// How the value of a figure is read from a snapshot.
pub(crate) enum Value<T> {
    /// Counted since the runtime began.
    Count(fn(&T) -> u64),
    /// A number at the moment.
    Number(fn(&T) -> usize),
    /// A time, which is not added up.
    Time(fn(&T) -> Duration),
}

/// A figure of a runtime or a processor.
pub(crate) struct Figure<T> {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) value: Value<T>,
}

impl<T> Figure<T> {
    pub(crate) fn describe(&self, recorder: &dyn Recorder) {
        let (name, help) = (self.name.into(), self.help.into());
        match self.value {
            Value::Count(_) => recorder.describe_counter(name, Some(Unit::Count), help),
            Value::Number(_) => recorder.describe_gauge(name, Some(Unit::Count), help),
            Value::Time(_) => recorder.describe_gauge(name, Some(Unit::Seconds), help),
        }
    }

    pub(crate) fn record(&self, series: &Series<'_>, snapshot: &T) {
        match self.value {
            Value::Count(value) => series.count(self.name, None, value(snapshot)),
            Value::Number(value) => series.gauge(self.name, None, value(snapshot) as f64),
            Value::Time(value) => series.gauge(self.name, None, value(snapshot).as_secs_f64()),
        }
    }
}

/// The series of a runtime, or of one of its processors, in a recorder.
pub(crate) struct Series<'a> {
    recorder: &'a dyn Recorder,
    runtime: SharedString,
    processor: Option<SharedString>,
}

impl<'a> Series<'a> {
    pub(crate) fn of_runtime(recorder: &'a dyn Recorder, runtime: SharedString) -> Self {
        Self { recorder, runtime, processor: None }
    }

    pub(crate) fn of_processor(&self, processor: String) -> Self {
        let processor = Some(SharedString::from_owned(processor));
        Self { recorder: self.recorder, runtime: self.runtime.clone(), processor }
    }

    /// Raises a counter to `value`, and leaves it alone if it is higher.
    pub(crate) fn count(&self, name: &'static str, label: Option<Label>, value: u64) {
        self.recorder.register_counter(&self.key(name, label), &METADATA).absolute(value);
    }

    /// Sets a gauge.
    pub(crate) fn gauge(&self, name: &'static str, label: Option<Label>, value: f64) {
        self.recorder.register_gauge(&self.key(name, label), &METADATA).set(value);
    }

    fn key(&self, name: &'static str, label: Option<Label>) -> Key {
        let mut labels = Vec::with_capacity(3);
        labels.push(Label::new("runtime", self.runtime.clone()));
        if let Some(processor) = &self.processor {
            labels.push(Label::new("processor", processor.clone()));
        }
        labels.extend(label);
        Key::from_parts(name, labels)
    }
}
