//! Evenkeel: an async runtime that lets no ready task starve.
