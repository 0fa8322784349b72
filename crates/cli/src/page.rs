//! Self-contained HTML pages.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The usual style.
pub const STYLE: &str = "
body { font: 15px/1.45 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em; border-top: 1px solid #ccc; padding-top: .8em }
table { border-collapse: collapse; margin: 1em 0; font-size: .9em }
th, td { padding: .15em .7em; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap }
th { border-bottom-color: #888 } .name, th:first-child { text-align: left }
";

/// Returns a page with a title, in the usual style and this one.
pub fn document(title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string()
}
