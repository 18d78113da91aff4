//! The mark of a verdict on the page.

use maud::{Markup, html};

use suite::verdict::Standing;

/// The coloured mark that goes with the words.
pub(super) fn mark(standing: Standing) -> Markup {
    let (class, mark) = match standing {
        Standing::Ahead => ("ahead", "▲"),
        Standing::Behind => ("behind", "▼"),
        Standing::Even => ("even", "■"),
    };
    html! { span.mark.(class) aria-hidden="true" { (mark) } }
}
