//! A case: the settings that all runs of one row share. The peer that runs it is not part of it.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::named::NAMELESS;

/// A name that the program knows, or one read from a file.
pub type Name = Cow<'static, str>;

/// Named values, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Vec<(Name, Value)>);

impl Fields {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns these fields and one more.
    ///
    /// Give a figure as a float even where it is whole: `analyse` takes unknown whole numbers for
    /// settings.
    #[must_use]
    pub fn with(mut self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        let name = name.into();
        debug_assert!(self.get(&name).is_none(), "{name} is named twice");
        self.0.push((name, value.into()));
        self
    }

    /// Adds the field if it has a value; returns these fields unchanged if not.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Returns the value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the number of this name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// Returns the text of this name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Iterates over all fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }
}

/// Formats a value for a table: without the quotes that JSON puts around text.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One case of an experiment. Runs of the same case on different peers are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The experiment.
    pub bench: Name,
    /// Its variant; [`NAMELESS`] where there is only one.
    pub variant: Name,
    /// The number of workers of the runtime. Each has a core of its own while there are enough
    /// cores.
    pub workers: usize,
    /// Further settings that tell cases apart.
    pub settings: Fields,
}

impl Case {
    /// Creates a case without further settings.
    pub fn new(bench: &'static str, variant: &'static str, workers: usize) -> Self {
        let (bench, variant) = (bench.into(), variant.into());
        Self { bench, variant, workers, settings: Fields::new() }
    }

    /// Returns the case with one more setting.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.settings = self.settings.with(name, value);
        self
    }

    /// Returns the settings of the experiment, by name and in words. Skips the settings that it
    /// lacks, which are stored as 0 or `-`.
    pub fn told(&self) -> impl Iterator<Item = (&str, String)> {
        let has = |(_, value): &(&str, &Value)| **value != 0 && **value != NAMELESS;
        self.settings
            .iter()
            .filter(has)
            .map(|(name, value)| (name, format!("{} {}", name.replace('_', " "), plain(value))))
    }

    /// Returns the experiment and its variant.
    pub fn title(&self) -> String {
        match self.variant.as_ref() {
            NAMELESS => self.bench.to_string(),
            variant => format!("{} {variant}", self.bench),
        }
    }
}

/// Formats such as `timers idle, 2 workers, tasks 100`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.title(), crate::words::count(self.workers, "worker"))?;
        self.told().try_for_each(|(_, setting)| write!(f, ", {setting}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_named_by_all_that_tells_it_apart() {
        let case = Case::new("churn", NAMELESS, 1).with("tasks_per_proc", 100);
        assert_eq!(case.to_string(), "churn, 1 worker, tasks per proc 100");
        let case = Case::new("directory", "read", 2).with("popularity", "uniform");
        assert_eq!(case.to_string(), "directory read, 2 workers, popularity uniform");
        let case = Case::new("heap", NAMELESS, 2).with("keys", 8).with("words", 0).with("a", "-");
        assert_eq!(case.to_string(), "heap, 2 workers, keys 8");
    }

    #[test]
    fn fields_keep_their_order_and_what_is_absent_is_no_field() {
        let fields = Fields::new().with("b", 1).with_some("c", None::<f64>).with("a", "text");
        let names: Vec<&str> = fields.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!((fields.number("b"), fields.number("a")), (Some(1.0), None));
        assert_eq!(fields.text("a"), Some("text"));
    }
}
