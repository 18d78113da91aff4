//! Compiles and runs the examples of the papers in this folder: `cargo test -p evenkeel-docs`.

// An example whose handle is not used would warn in the program that copies it.
#![doc(test(attr(deny(unused_must_use))))]

/// Declares an item whose documentation is a paper, so that rustdoc tests the paper's examples.
macro_rules! papers {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($file)]
            struct $name;
        )*
    };
}

papers! {
    FrontPage: "../README.md",
    Promise: "promise.md",
    Platform: "platform.md",
    FromTokio: "from-tokio.md",
    FromRayon: "from-rayon.md",
    Start: "book/1-start.md",
    Tasks: "book/2-tasks.md",
    Time: "book/3-time-and-shutdown.md",
    ForkJoin: "book/4-fork-join.md",
    Sharing: "book/5-sharing.md",
    Objects: "book/6-objects.md",
    Actors: "book/7-actors.md",
    Testing: "book/8-tests-and-production.md",
}
