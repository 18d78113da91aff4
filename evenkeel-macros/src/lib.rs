//! The attribute and derive macros of evenkeel. Programs depend on the crate `evenkeel`, which
//! exports them.
//!
//! The attributes run the body of an `async fn` on a runtime of its own. Their logic is in
//! `options` and `entry`, which work on tokens alone, so that unit tests can call them.

mod entry;
mod operations;
mod options;

use proc_macro::TokenStream;

use entry::Kind;

/// Runs an `async fn` on a runtime, as the `main` function.
///
/// ```text
/// #[evenkeel::main(workers = 2, name = "counter")]
/// async fn main() -> std::io::Result<()> {
///     evenkeel::spawn(async { println!("from a task") }).await.expect("the task does not panic");
///     Ok(())
/// }
/// ```
///
/// Each of the options may be left out. All but the last are those of the runtime's `Builder`:
///
/// - `workers = 2` is the number of workers, from 1 to 1,024.
/// - `name = "counter"` is the name of the runtime's threads.
/// - `flavor = "current_thread"` makes a runtime without worker threads, by
///   `Builder::new_current_thread`: the thread that runs the body polls the tasks too. It goes
///   without `workers`. The default is `flavor = "multi_thread"`.
/// - `start_paused = true` lets the runtime's clock stand at the start, for tests.
/// - `crate = "parts::evenkeel"` is the path of the crate `evenkeel`, for programs that have it
///   from another crate. The default is `crate = "::evenkeel"`.
///
/// The function takes no arguments, and may return what a `main` function may return. It panics if
/// the runtime does not start.
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    entry::expand(Kind::Main, options.into(), function.into()).into()
}

/// Runs an `async fn` on a runtime, as a test.
///
/// ```text
/// #[evenkeel::test(workers = 2)]
/// async fn a_task_returns_its_value() {
///     assert_eq!(evenkeel::spawn(async { 1 }).await.ok(), Some(1));
/// }
/// ```
///
/// The options are those of [`main`](macro@main). Other attributes, such as `#[should_panic]`, stay
/// on the test.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    entry::expand(Kind::Test, options.into(), function.into()).into()
}

/// Makes the variants of an `enum` without fields the operations of a monitor.
///
/// ```text
/// #[derive(Clone, Copy, evenkeel::sync::monitor::Entry)]
/// enum Op {
///     Put,
///     Take,
/// }
/// ```
///
/// `#[entry(crate = "parts::evenkeel")]` beside it gives the path of the crate `evenkeel`, for
/// programs that have it from another crate. The default is `crate = "::evenkeel"`.
#[proc_macro_derive(Entry, attributes(entry))]
pub fn entry(item: TokenStream) -> TokenStream {
    operations::expand(item.into()).into()
}
