//! A picture on the page.

use maud::{Markup, PreEscaped, html};

/// Renders a picture with its caption, and a few words on how to read it, if any.
pub(super) fn figure(caption: &str, sense: &str, svg: &str) -> Markup {
    html! {
        figure {
            figcaption { (caption) @if !sense.is_empty() { span.unit { (sense) } } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    }
}
