//! A recorder that keeps what it is told.

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A name with its labels: `ready{processor=0,runtime=web}`.
type Place = String;
type Values = BTreeMap<Place, Arc<AtomicU64>>;
/// A unit and a text.
type Description = (Option<Unit>, String);

#[derive(Clone, Default)]
pub(crate) struct Kept {
    counters: Arc<Mutex<Values>>,
    gauges: Arc<Mutex<Values>>,
    described: Arc<Mutex<HashMap<String, Description>>>,
}

impl Kept {
    /// Returns the value of a counter.
    pub(crate) fn count(&self, place: &str) -> u64 {
        let counters = self.counters.lock().unwrap();
        let counter = counters.get(place).unwrap_or_else(|| panic!("no counter {place}"));
        counter.load(Relaxed)
    }

    /// Returns the value of a gauge.
    pub(crate) fn gauge(&self, place: &str) -> f64 {
        let gauges = self.gauges.lock().unwrap();
        let gauge = gauges.get(place).unwrap_or_else(|| panic!("no gauge {place}"));
        f64::from_bits(gauge.load(Relaxed))
    }

    /// Returns all counters and gauges, with their bits.
    pub(crate) fn all(&self) -> BTreeMap<Place, u64> {
        let [counters, gauges] = [&self.counters, &self.gauges].map(|all| all.lock().unwrap());
        let all = counters.iter().chain(gauges.iter());
        all.map(|(place, value)| (place.clone(), value.load(Relaxed))).collect()
    }

    /// Returns the unit and the text by which a name was described.
    pub(crate) fn described(&self, name: &str) -> Description {
        let described = self.described.lock().unwrap();
        described.get(name).unwrap_or_else(|| panic!("{name} is not described")).clone()
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>, help: &SharedString) {
        let mut described = self.described.lock().unwrap();
        described.insert(name.as_str().to_owned(), (unit, help.to_string()));
    }
}

fn value(all: &Mutex<Values>, key: &Key) -> Arc<AtomicU64> {
    let mut labels: Vec<_> =
        key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
    labels.sort();
    let place = format!("{}{{{}}}", key.name(), labels.join(","));
    all.lock().unwrap().entry(place).or_default().clone()
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("{} is described as a histogram", name.as_str());
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(value(&self.counters, key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(value(&self.gauges, key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("{} is registered as a histogram", key.name());
    }
}
