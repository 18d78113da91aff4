//! The mark of a verdict on the page.

use maud::{Markup, html};

use suite::verdict::Standing;

/// Renders the coloured mark beside the words of a verdict.
pub(super) fn mark(standing: Standing) -> Markup {
    let (class, mark) = match standing {
        Standing::Ahead => ("ahead", "▲"),
        Standing::Behind => ("behind", "▼"),
        Standing::Even => ("even", "■"),
    };
    html! { span.mark.(class) aria-hidden="true" { (mark) } }
}
