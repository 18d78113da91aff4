//! The machine on which every family of experiments runs. It knows none of them.
//!
//! A [`family`] says what it measures on which [peers](peer), plans its [cases](case), and runs one
//! case once on one peer; an [`entry`] stands for it where it is not known. The [`runner`] lets the
//! peers of a case take turns, until each has [`enough`] runs that count, and makes a [`record`] of
//! each run. A record is not generic: it is an envelope and two lists of named values, so that all
//! behind it is compiled once for all families. There records become [`rows`], a row has a
//! [`verdict`] for each [`quantity`] that is compared, and a [`table`] shows them.

pub(crate) mod asked;
pub(crate) mod case;
pub(crate) mod description;
pub(crate) mod enough;
pub(crate) mod entry;
pub(crate) mod family;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod peer;
pub(crate) mod picture;
pub(crate) mod published;
pub(crate) mod quantity;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod runner;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod verdict;
