//! `accept!`.

/// Accepts one call, and runs the block of its clause:
/// [`Held::accept`](crate::sync::monitor::Held::accept) as a statement.
///
/// `held` is a mutable variable that has the hold, before and after. Semicolons separate the
/// clauses, and earlier clauses have priority. `OP => {..}` accepts calls of that operation; `[OP,
/// OTHER] => {..}` accepts the longest-waiting call of either. With `, if CONDITION` before the
/// arrow, a clause is open only if the condition is true when the statement begins. The block of
/// the clause runs after the call, with the monitors held.
///
/// After these clauses the following may come, in this order. `broken => {..}` is for a call that
/// has panicked or was cancelled. `timeout LIMIT => {..}` runs if no call has come within that
/// duration, before that [`Instant`](crate::time::Instant), or before that future is ready. (A
/// limit may be computed from the held values, but must not borrow them: the hold is given away.)
/// `else => {..}` runs if no caller is queued yet; `else, if CONDITION => {..}` counts only if the
/// condition is true. An `else` that counts does not wait for the timeout.
///
/// The value is that of the block, as an `Option`. It is `None` if all clauses are closed, or if
/// the call has broken off and there is no `broken` block.
///
/// # Examples
/// ```
/// use evenkeel::accept;
/// use evenkeel::sync::monitor::{End, Entry, Monitor};
/// use std::sync::Arc;
///
/// #[derive(Clone, Copy, Entry)]
/// enum Op {
///     Add,
///     Take,
/// }
///
/// # let runtime = evenkeel::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let counter = Arc::new(Monitor::new(0_u32));
/// let mut held = counter.enter().await;
/// let client = evenkeel::spawn({
///     let counter = counter.clone();
///     async move {
///         counter.call(Op::Take, async |mut held| *held -= 1).await;
///         *counter.end().await
///     }
/// });
/// let adder = evenkeel::spawn({
///     let counter = counter.clone();
///     async move { counter.call(Op::Add, async |mut held| *held += 2).await }
/// });
/// let mut calls = 0;
/// loop {
///     accept!(held;
///         Op::Take, if *held > 0 => { calls += 1 };
///         Op::Add => { calls += 1 };
///         End => { break }
///     );
/// }
/// drop(held);
/// assert_eq!((calls, client.await.unwrap()), (2, 1));
/// adder.await.unwrap();
/// # });
/// ```
/// With a guarded `else`, and with a time limit:
/// ```
/// use evenkeel::accept;
/// use evenkeel::sync::monitor::{Entry, Monitor};
/// use evenkeel::time::{Duration, sleep};
///
/// #[derive(Clone, Copy, Entry)]
/// enum Op {
///     Submit,
/// }
///
/// let jobs = Monitor::new(vec!["a job"]);
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let mut held = jobs.enter().await;
///     let done = accept!(held;
///         Op::Submit => { None };
///         else, if !held.is_empty() => { held.pop() });
///     assert_eq!(done, Some(Some("a job")));
///     let idle = accept!(held;
///         Op::Submit => { false };
///         timeout Duration::from_millis(2) => { true });
///     assert_eq!(idle, Some(true));
/// });
/// ```
///
/// A statement of another form is a compile error that says so. There is at least one operation,
/// and `else` comes last:
/// ```compile_fail
/// # use evenkeel::{accept, sync::monitor::{End, Monitor}};
/// # async fn example(monitor: &Monitor<u32>) {
/// let mut held = monitor.enter().await;
/// accept!(held; else => {});
/// # }
/// ```
/// ```compile_fail
/// # use evenkeel::{accept, sync::monitor::{End, Monitor}};
/// # async fn example(monitor: &Monitor<u32>) {
/// let mut held = monitor.enter().await;
/// accept!(held; else => {}; End => {});
/// # }
/// ```
#[macro_export]
macro_rules! accept {
    // Forms that would otherwise give errors about the macro's own parts.
    (@gather $held:ident [] [$($broken:tt)*]) => {
        compile_error!("accept! has no operation: name at least one, as in `Op::Call => { .. }`")
    };
    (@gather $held:ident [] [$($broken:tt)*] else $($rest:tt)*) => {
        compile_error!("accept! has no operation before `else`: name at least one, as in `Op::Call => { .. }`")
    };
    (@gather $held:ident [] [$($broken:tt)*] timeout $($rest:tt)*) => {
        compile_error!("accept! has no operation before `timeout`: name at least one, as in `Op::Call => { .. }`")
    };
    // The rest of the clauses, gathered one by one: clauses, what to do when one is broken, how to
    // wait, what to do then.
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] else => $body:block $(;)?) => {
        $crate::accept!(@emit $held [$($clauses)*] [$($broken)*] [accept_or_else] [] [] [Else => $body])
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] else, if $open:expr => $body:block $(;)?) => {
        $crate::accept!(@emit $held [$($clauses)*] [$($broken)*] [accept] [] [$open] [Else => $body])
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] timeout $until:expr => $body:block; else => $at_else:block $(;)?) => {
        $crate::accept!(@gather $held [$($clauses)*] [$($broken)*] timeout $until => $body; else, if true => $at_else)
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] timeout $until:expr => $body:block; else, if $open:expr => $at_else:block $(;)?) => {
        $crate::accept!(@emit $held [$($clauses)*] [$($broken)*] [accept_until] [limit = $until] [$open] [Timeout => $body, Else => $at_else])
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] timeout $until:expr => $body:block $(;)?) => {
        $crate::accept!(@emit $held [$($clauses)*] [$($broken)*] [accept_until] [limit = $until] [] [Timeout => $body])
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] else $(, if $open:expr)? => $body:block; $($rest:tt)+) => {
        compile_error!("accept!: `else` comes last, behind `broken` and `timeout`")
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] timeout $until:expr => $body:block; $($rest:tt)+) => {
        compile_error!("accept!: behind `timeout` comes `else` or nothing")
    };
    (@gather $held:ident [$($clauses:tt)*] [] broken => $body:block $(; $($rest:tt)*)?) => {
        $crate::accept!(@gather $held [$($clauses)*] [$body] $($($rest)*)?)
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] [$op:expr $(, $or:expr)* $(,)?] $(, if $open:expr)? => $body:block $(; $($rest:tt)*)?) => {
        $crate::accept!(@gather $held
            [$($clauses)* ($crate::sync::monitor::Clause::new($op)$(.or($or))* $(.when($open))?, $body)] [$($broken)*] $($($rest)*)?)
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*] $op:expr $(, if $open:expr)? => $body:block $(; $($rest:tt)*)?) => {
        $crate::accept!(@gather $held
            [$($clauses)* ($crate::sync::monitor::Clause::new($op) $(.when($open))?, $body)] [$($broken)*] $($($rest)*)?)
    };
    (@gather $held:ident [$($clauses:tt)*] [$($broken:tt)*]) => {
        $crate::accept!(@emit $held [$($clauses)*] [$($broken)*] [accept] [] [] [])
    };
    (@emit $held:ident [$(($clause:expr, $body:block))+] [$($broken:block)?] [$how:ident] [$($limit:ident = $until:expr)?] [$($else_is_open:expr)?]
        [$($end:ident => $at_end:block),*]) => {{
        let clauses = [$($clause),+];
        let (held, outcome) = $(if $else_is_open { $crate::sync::monitor::Held::accept_or_else($held, clauses).await } else)? {
            // The limit may read the held values, as the conditions may: so it is computed before
            // the hold is given away.
            $(let $limit = {
                #[allow(unused_imports)]
                use $crate::sync::monitor::limit::{Other as _, Time as _};
                let limit = $until;
                (&limit).kind().until(limit)
            };)?
            $crate::sync::monitor::Held::$how($held, clauses $(, $limit)?).await
        };
        $held = held;
        let mut index = 0_usize;
        let mut is_next = |called: usize| {
            index += 1;
            called + 1 == index
        };
        #[allow(unused_mut, unused_variables, unused_assignments, unreachable_code, clippy::diverging_sub_expression)]
        let value = match outcome {
            $crate::sync::monitor::Accepted::Call(called) => {
                $(if is_next(called) { ::core::option::Option::Some($body) } else)+ { ::core::unreachable!("an accepted call is of a clause") }
            }
            $($crate::sync::monitor::Accepted::Broken(_) => ::core::option::Option::Some($broken),)?
            $($crate::sync::monitor::Accepted::$end => ::core::option::Option::Some($at_end),)*
            _ => ::core::option::Option::None,
        };
        value
    }};
    (@gather $($wrong:tt)*) => {
        compile_error!("accept!: clauses are `OP => {..}`, `OP, if CONDITION => {..}`, `broken => {..}`, `timeout LIMIT => {..}` and `else => {..}`, with `;` in between")
    };
    ($held:ident; $($rest:tt)+) => {
        $crate::accept!(@gather $held [] [] $($rest)+)
    };
    ($($wrong:tt)*) => {
        compile_error!("accept! begins with a variable that has the hold: `accept!(held; Op::Call => {..})`")
    };
}
