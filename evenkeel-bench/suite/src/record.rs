//! The record of one run.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::case::{Case, Fields, Name};

/// One run of one case on one peer.
///
/// Every run is kept, even a disturbed one; the code that makes the figures decides which runs
/// count. A run that failed its own check never becomes a record; it ends the command.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The peer's name, as `--runtime` takes it.
    pub runtime: Name,
    /// The case that was run.
    pub case: Case,
    /// The round in which it ran, from 0.
    pub repeat: usize,
    /// The measured figures.
    pub figures: Fields,
    /// Whether the run did not complete.
    pub dnc: bool,
    /// The quietness of the machine.
    pub quiet: Quiet,
}

/// How quiet the machine was during a run, and how near its cores were.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiet {
    /// One-way time of a cache line between two cores before the run, in ns; 0 if unknown.
    pub line_ns_before: f64,
    /// The same time after the run.
    pub line_ns_after: f64,
    /// The distance of the cores by these two times, as [`crate::regime`] names it.
    pub regime: Name,
    /// The share of the cores' time that other processes left to the run, 0 to 1.
    pub cpu_share: f64,
}

/// Serializes as one flat object: settings, then figures, then the machine.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { runtime, case, repeat, figures, dnc, quiet } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("runtime", runtime)?;
        map.serialize_entry("bench", &case.bench)?;
        map.serialize_entry("variant", &case.variant)?;
        map.serialize_entry("workers", &case.workers)?;
        for (name, value) in case.settings.iter() {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("repeat", repeat)?;
        for (name, value) in figures.iter() {
            map.serialize_entry(name, value)?;
        }
        if *dnc {
            map.serialize_entry("dnc", dnc)?;
        }
        map.serialize_entry("line_ns_before", &quiet.line_ns_before)?;
        map.serialize_entry("line_ns_after", &quiet.line_ns_after)?;
        map.serialize_entry("regime", &quiet.regime)?;
        map.serialize_entry("cpu_share", &quiet.cpu_share)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::fake::run;
    use crate::read;

    #[test]
    fn a_record_is_one_flat_object_whose_floats_stay_floats() {
        let line = serde_json::to_string(&run("evenkeel", 2, 20.0)).unwrap();
        assert_eq!(
            line,
            "{\"runtime\":\"evenkeel\",\"bench\":\"cycle\",\"variant\":\"-\",\"workers\":2,\
             \"tasks\":100,\"repeat\":0,\"ns\":20.0,\"ops\":7,\"line_ns_before\":40.0,\
             \"line_ns_after\":50.0,\"regime\":\"near\",\"cpu_share\":1.0}"
        );
        let unfinished = Record { dnc: true, ..run("evenkeel", 2, 20.0) };
        let line = serde_json::to_string(&unfinished).unwrap();
        assert!(line.contains("\"ops\":7,\"dnc\":true,\"line_ns_before\""), "{line}");
    }

    #[test]
    fn what_is_written_is_read_as_it_was() {
        for record in [run("evenkeel", 2, 20.5), Record { dnc: true, ..run("rayon", 1, 3.0) }] {
            let line = serde_json::to_string(&record).unwrap();
            assert_eq!(read::record(&line, &["tasks"]).unwrap(), record);
        }
    }
}
