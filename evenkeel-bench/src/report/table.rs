//! A verdict on the page: its mark, and its words.

use maud::{Markup, html};

use crate::verdict::{Standing, Verdict};

/// What the words of a verdict are about.
pub(super) fn standing(verdict: &Verdict) -> Markup {
    html! {
        (mark(verdict.standing))
        (verdict.words)
        @if let Some(peer) = &verdict.peer { span.range { "beside " (peer) } }
    }
}

/// The coloured mark that goes with the words.
pub(super) fn mark(standing: Standing) -> Markup {
    let (class, mark) = match standing {
        Standing::Ahead => ("ahead", "▲"),
        Standing::Behind => ("behind", "▼"),
        Standing::Even => ("even", "■"),
    };
    html! { span.mark.(class) aria-hidden="true" { (mark) } }
}
