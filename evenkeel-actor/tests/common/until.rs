//! Waiting for a condition.

/// Waits until it holds; others run meanwhile.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        evenkeel::yield_now().await;
    }
}
