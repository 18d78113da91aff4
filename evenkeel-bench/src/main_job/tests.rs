//! The main job's words about its rounds and about a row.

use super::*;
use crate::report::example::session;

#[test]
fn families_that_are_measured_in_fewer_rounds_are_named() {
    assert_eq!(told(&[("Rings", 3), ("Timers", 3)]), "Each row is measured in 3 rounds");
    assert_eq!(told(&[("Rings", 1)]), "Each row is measured in 1 round");
    let rounds = [("Rings", 15), ("Fork-join", 5), ("Timers", 15), ("Objects", 3)];
    assert_eq!(
        told(&rounds),
        "Each row is measured in 15 rounds, of Fork-join in 5, of Objects in 3"
    );
}

/// A row is the same with and without later measurements.
#[test]
fn the_line_of_a_row_is_made_of_what_its_figures_need() {
    for measured in session().measured {
        let Measured { of, records, absent } = &measured;
        for row in rows(of, records, absent) {
            let first = records.iter().position(|record| record.case == *row.case);
            let (Some(first), []) = (first, row.absent.as_slice()) else { continue };
            let begun = Begun { case: row.case.clone(), records: first, absent: absent.len() };
            let own = table::brief(&row, of.subject().unwrap_or_default(), None);
            assert_eq!(brief_within(&measured, &begun, None), own);
        }
    }
}
