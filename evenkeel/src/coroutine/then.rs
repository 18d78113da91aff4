//! What is done once a body is suspended.

/// An output that says what to do with the coroutine once its body is suspended, for
/// [`Resume::resume_then`](super::Resume::resume_then).
///
/// In C∀ this is `suspend { .. }`, a block that runs after the switch.
pub trait Then<C> {
    /// Does it. Whoever gets the coroutine from here may resume it at once, on any thread.
    fn then(self, coroutine: C);
}
