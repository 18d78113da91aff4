//! A token that is cancelled at the end of a scope.

use super::CancellationToken;

/// Cancels a token when it is dropped. Returned by [`CancellationToken::drop_guard`], which has an
/// example.
#[derive(Debug)]
#[must_use = "dropping the guard cancels the token"]
pub struct DropGuard {
    /// None once the guard is disarmed.
    token: Option<CancellationToken>,
}

impl DropGuard {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self { token: Some(token) }
    }

    /// Returns the token, which is then not cancelled.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::CancellationToken;
    /// let token = CancellationToken::new();
    /// let guard = token.clone().drop_guard();
    /// drop(guard.disarm());
    /// assert!(!token.is_cancelled());
    /// ```
    #[must_use]
    pub fn disarm(mut self) -> CancellationToken {
        self.token.take().expect("it is taken once")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}
