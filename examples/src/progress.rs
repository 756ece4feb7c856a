//! Progress bars.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `steps` steps, called `what`; its message stands behind it. Nothing is drawn where the
/// output is no terminal.
///
/// # Panics
/// Never: the bar's template is fixed.
pub fn bar(what: &'static str, steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")
        .expect("the template is well-formed");
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_prefix(what)
}
