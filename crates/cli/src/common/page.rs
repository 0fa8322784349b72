//! Self-contained HTML pages.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The usual style, light or dark as the system has it.
pub const STYLE: &str = "
:root { color-scheme: light dark; --text: #222; --page: #fff; --faint: #666; --rule: #e4e4e4; --edge: #999; --bad: #a00;
  --empty: #eee }
@media (prefers-color-scheme: dark) {
  :root { --text: #ddd; --page: #16181b; --faint: #9a9a9a; --rule: #33373c; --edge: #6a6f75; --bad: #ff8a80; --empty: #2b2f34 }
}
body { font: 15px/1.45 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: var(--text); background: var(--page) }
h1 { font-size: 1.5em; overflow-wrap: anywhere } h2 { font-size: 1.15em; margin-top: 2em; border-top: 1px solid var(--rule); padding-top: .8em }
table { border-collapse: collapse; margin: 1em 0; font-size: .9em }
th, td { padding: .15em .7em; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th { border-bottom-color: var(--edge); vertical-align: bottom } .name, th:first-child { text-align: left }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em } .wide { overflow-x: auto }
svg { max-width: 100%; height: auto } svg text { fill: currentColor }
svg :is(line, polyline)[stroke=\"#000000\"] { stroke: var(--edge) }
";

/// Returns a page with a title, in the usual style and this one.
pub fn document(title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
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
