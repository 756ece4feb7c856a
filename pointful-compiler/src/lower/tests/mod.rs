//! Tests of inference and lowering, on source text.

mod derivative;
mod functions;
mod meaning;
mod printing;
mod reject;
mod robust;
mod signature;

use super::source::lower_source;
use crate::diag::Diagnostic;

/// Errors as lines `line:column: message`, with their help indented.
fn rendered(errors: &[Diagnostic]) -> String {
    let mut out = String::new();
    for error in errors {
        let start = error.span.start();
        let place = format!("{}:{}", start.line, start.column + 1);
        out.push_str(&format!("{place}: {}\n", error.message));
        for help in &error.help {
            out.push_str(&format!("  help: {help}\n"));
        }
    }
    out
}
