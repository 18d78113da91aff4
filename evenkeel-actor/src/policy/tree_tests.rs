use super::*;
use crate::policy::intensity::Backoff;
use crate::policy::restart::{Restart, Strategy};

const S: Duration = Duration::from_secs(1);

fn terms(restart: Restart) -> Terms {
    Terms { restart, shutdown: S, backoff: None }
}

fn tree(strategy: Strategy, restarts: u32, kinds: &[Restart]) -> Tree {
    let mut tree = Tree::new(strategy, Limit { restarts, window: S * 5 });
    for (index, &kind) in kinds.iter().enumerate() {
        tree.add(index, terms(kind));
    }
    tree.go_on();
    tree
}

/// Returns a tree with all children up.
fn up(strategy: Strategy, restarts: u32, kinds: &[Restart]) -> Tree {
    let mut tree = tree(strategy, restarts, kinds);
    for index in 0..kinds.len() {
        assert_eq!(tree.phase(), Phase::Booting);
        assert_eq!(tree.take_steps(), [Step::Rise(index)]);
        tree.started(index, Duration::ZERO);
    }
    assert_eq!(tree.phase(), Phase::Running);
    assert_eq!(tree.take_steps(), []);
    tree
}

fn cease(index: usize) -> [Step; 2] {
    [Step::Cease(index), Step::Alarm(index, S)]
}

use Restart::{Permanent, Temporary, Transient};

#[test]
fn children_start_in_order_and_stop_in_reverse() {
    for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
        let mut tree = up(strategy, 1, &[Permanent, Transient, Temporary]);
        tree.halt();
        for index in (0..3).rev() {
            assert_eq!(tree.take_steps(), cease(index));
            assert_eq!(tree.phase(), Phase::Halting(None));
            tree.fell(index, true, S);
            assert_eq!(tree.steps.remove(0), Step::Calm(index));
        }
        assert_eq!(tree.phase(), Phase::Halted(None));
        assert_eq!(tree.take_steps(), []);
    }
}

/// Each strategy, kind, and reason: which children are stopped, and whether the child that ended is
/// restarted.
#[test]
fn an_end_concerns_those_that_the_strategy_says() {
    let strategies = [
        (Strategy::OneForOne, vec![]),
        (Strategy::OneForAll, vec![2, 0]),
        (Strategy::RestForOne, vec![2]),
    ];
    for (strategy, others) in strategies {
        for kind in [Permanent, Transient, Temporary] {
            for normal in [true, false] {
                let mut tree = up(strategy, 1, &[Permanent, kind, Permanent]);
                tree.fell(1, normal, S);
                if !kind.is_due(normal) {
                    assert_eq!(tree.take_steps(), [Step::Dismiss(1)]);
                    continue;
                }
                for &other in &others {
                    assert_eq!(tree.take_steps(), cease(other));
                    tree.fell(other, true, S);
                    assert_eq!(tree.steps.remove(0), Step::Calm(other));
                }
                let mut back: Vec<usize> = others.iter().copied().chain([1]).collect();
                back.sort_unstable();
                for index in back {
                    assert_eq!(tree.take_steps(), [Step::Rise(index)], "{strategy:?}");
                    tree.started(index, S);
                }
                assert_eq!(tree.take_steps(), []);
            }
        }
    }
}

#[test]
fn temporary_siblings_are_not_started_again() {
    let mut tree = up(Strategy::OneForAll, 1, &[Permanent, Temporary]);
    tree.fell(0, false, S);
    assert_eq!(tree.take_steps(), cease(1));
    tree.fell(1, true, S);
    assert_eq!(tree.take_steps(), [Step::Calm(1), Step::Dismiss(1), Step::Rise(0)]);
}

#[test]
fn of_failures_at_once_one_counts() {
    let mut tree = up(Strategy::OneForAll, 1, &[Permanent; 3]);
    tree.fell(0, false, S);
    assert_eq!(tree.take_steps(), cease(2));
    // Before the child is told to stop, and after.
    tree.fell(1, false, S);
    tree.fell(2, false, S);
    assert_eq!(tree.take_steps(), [Step::Calm(2), Step::Rise(0)]);
    tree.started(0, S);
    assert_eq!(tree.take_steps(), [Step::Rise(1)]);
    tree.started(1, S);
    assert_eq!(tree.take_steps(), [Step::Rise(2)]);
    tree.started(2, S);
    assert_eq!(tree.phase(), Phase::Running);
}

#[test]
fn too_many_restarts_stop_all() {
    let mut tree = up(Strategy::OneForOne, 2, &[Permanent; 3]);
    for _ in 0..2 {
        tree.fell(1, false, S);
        assert_eq!(tree.take_steps(), [Step::Rise(1)]);
    }
    tree.fell(1, false, S);
    assert_eq!(tree.phase(), Phase::Halting(Some(1)));
    assert_eq!(tree.take_steps(), cease(2));
    tree.fell(2, true, S);
    assert_eq!(tree.take_steps()[1..], cease(0));
    tree.alarm(0);
    assert_eq!(tree.take_steps(), [Step::Raze(0)]);
    tree.fell(0, false, S);
    assert_eq!(tree.phase(), Phase::Halted(Some(1)));
    assert_eq!(tree.take_steps(), [Step::Calm(0)]);
}

#[test]
fn a_child_that_cannot_start_counts_too() {
    let mut tree = tree(Strategy::OneForOne, 1, &[Permanent, Permanent]);
    assert_eq!(tree.take_steps(), [Step::Rise(0)]);
    tree.fell(0, false, S);
    assert_eq!(tree.take_steps(), [Step::Rise(0)]);
    tree.fell(0, false, S);
    assert_eq!(tree.phase(), Phase::Halted(Some(0)));
}

#[test]
fn a_back_off_delays_the_child_or_the_group() {
    let backoff = Some(Backoff { first: S, most: S * 3 });
    for strategy in [Strategy::OneForOne, Strategy::OneForAll] {
        let mut tree = Tree::new(strategy, Limit { restarts: 9, window: S });
        for index in 0..2 {
            tree.add(index, Terms { backoff, ..terms(Permanent) });
        }
        tree.go_on();
        tree.started(0, S);
        tree.started(1, S);
        tree.take_steps();
        tree.fell(0, false, S);
        if strategy == Strategy::OneForOne {
            assert_eq!(tree.take_steps(), [Step::Alarm(0, S)]);
        } else {
            assert_eq!(tree.steps.remove(0), Step::Alarm(0, S));
            assert_eq!(tree.take_steps(), cease(1));
            tree.fell(1, true, S);
            assert_eq!(tree.take_steps(), [Step::Calm(1)]);
        }
        tree.alarm(0);
        assert_eq!(tree.take_steps(), [Step::Rise(0)]);
        // It fails again before it is up.
        tree.fell(0, false, S * 100);
        assert_eq!(tree.take_steps(), [Step::Alarm(0, S * 2)]);
        tree.alarm(0);
        tree.started(0, S * 100);
        tree.take_steps();
        // It fails after it was up for long.
        tree.fell(0, false, S * 103);
        assert_eq!(tree.take_steps()[0], Step::Alarm(0, S));
    }
}

/// It was told to stop, and has ended by that.
#[test]
fn a_child_that_ends_for_good_while_it_waits_or_starts_is_not_started() {
    let backoff = Some(Backoff { first: S, most: S });
    let mut tree = Tree::new(Strategy::OneForOne, Limit { restarts: 9, window: S });
    tree.add(0, Terms { backoff, ..terms(Transient) });
    tree.go_on();
    tree.started(0, S);
    tree.fell(0, false, S);
    tree.take_steps();
    tree.lost(0);
    assert_eq!(tree.take_steps(), [Step::Calm(0)]);
    let mut tree = up(Strategy::RestForOne, 1, &[Transient, Permanent]);
    tree.fell(0, false, S);
    assert_eq!(tree.take_steps(), cease(1));
    tree.fell(1, true, S);
    assert_eq!(tree.take_steps(), [Step::Calm(1), Step::Rise(0)]);
    tree.lost(0);
    assert_eq!(tree.take_steps(), [Step::Rise(1)]);
}

#[test]
fn a_removed_child_stops_for_good() {
    let mut tree = up(Strategy::RestForOne, 1, &[Permanent, Permanent]);
    tree.remove(0);
    assert_eq!(tree.take_steps(), cease(0));
    tree.fell(0, true, S);
    assert_eq!(tree.take_steps(), [Step::Calm(0), Step::Dismiss(0)]);
    tree.remove(0);
    tree.lost(1);
    assert_eq!(tree.take_steps(), []);
    tree.halt();
    assert_eq!(tree.phase(), Phase::Halted(None));
}

/// A search through all children at each event would take minutes.
#[test]
fn events_of_many_children_cost_no_search() {
    const MANY: usize = 100_000;
    for strategy in [Strategy::OneForOne, Strategy::RestForOne] {
        let mut tree = tree(strategy, 1, &[]);
        for index in 0..MANY {
            tree.add(index, terms(Temporary));
            tree.go_on();
            assert_eq!(tree.take_steps(), [Step::Rise(index)]);
            tree.started(index, S);
        }
        for index in 0..MANY / 2 {
            tree.fell(index, true, S);
            assert_eq!(tree.take_steps(), [Step::Dismiss(index)]);
        }
        for index in MANY / 2..MANY {
            tree.remove(index);
            assert_eq!(tree.take_steps(), cease(index));
            tree.fell(index, true, S);
            assert_eq!(tree.take_steps(), [Step::Calm(index), Step::Dismiss(index)]);
        }
        tree.halt();
        assert_eq!(tree.phase(), Phase::Halted(None));
    }
}

/// Every course of six events of three children under each strategy. No child is started that is
/// up, and no child is stopped that is not. When all steps have been carried out, all live children
/// are up, or none is.
#[test]
fn every_course_of_events_comes_to_an_end() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Real {
        Down,
        Starting,
        Up,
        Gone,
    }
    let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
    for strategy in strategies {
        for course in 0..8_u32.pow(6) {
            let mut tree = tree(strategy, 3, &[Permanent, Transient, Temporary]);
            let mut real = [Real::Down; 3];
            let mut ceasing = [false; 3];
            let mut course = course;
            let carry = |tree: &mut Tree, real: &mut [Real; 3], ceasing: &mut [bool; 3]| {
                for step in tree.take_steps() {
                    match step {
                        Step::Rise(n) => {
                            assert_eq!(real[n], Real::Down);
                            real[n] = Real::Starting;
                        }
                        Step::Cease(n) => {
                            assert!(matches!(real[n], Real::Up | Real::Starting));
                            assert!(!ceasing.contains(&true));
                            ceasing[n] = true;
                        }
                        Step::Dismiss(n) => {
                            assert_eq!(real[n], Real::Down);
                            real[n] = Real::Gone;
                        }
                        Step::Raze(_) | Step::Alarm(..) | Step::Calm(_) => {}
                    }
                }
            };
            carry(&mut tree, &mut real, &mut ceasing);
            for turn in 0..40 {
                // First the course, then the events that are still due.
                let event = if turn < 6 { course % 8 } else { 7 };
                course /= 8;
                let n = (event % 3) as usize;
                match event {
                    0..6 if matches!(real[n], Real::Up | Real::Starting) => {
                        real[n] = Real::Down;
                        ceasing[n] = false;
                        tree.fell(n, event >= 3, S);
                    }
                    6 if turn == 3 => tree.halt(),
                    _ => {
                        if let Some(n) = real.iter().position(|&real| real == Real::Starting) {
                            real[n] = Real::Up;
                            tree.started(n, S);
                        } else if let Some(n) = ceasing.iter().position(|&ceasing| ceasing) {
                            real[n] = Real::Down;
                            ceasing[n] = false;
                            tree.fell(n, true, S);
                        } else if turn >= 6 {
                            // Nothing is due any more.
                            break;
                        }
                    }
                }
                carry(&mut tree, &mut real, &mut ceasing);
            }
            match tree.phase() {
                Phase::Running => {
                    assert!(real.iter().all(|real| matches!(real, Real::Up | Real::Gone)));
                }
                Phase::Halted(_) => {
                    assert!(real.iter().all(|real| matches!(real, Real::Down | Real::Gone)));
                }
                phase => panic!("{phase:?} after all has happened: {real:?}"),
            }
        }
    }
}
