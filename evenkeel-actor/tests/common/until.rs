//! Waiting for a condition.

/// Waits until the condition holds; other tasks run meanwhile.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        evenkeel::yield_now().await;
    }
}
