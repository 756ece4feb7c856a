//! Tests of inference and lowering, on source text.

mod files;
mod reject;

use super::source::lower_source;
use crate::diag::Diagnostic;

/// The Point program of a source text, which must be right.
fn point(source: &str) -> String {
    match lower_source(source) {
        Ok(lowered) => {
            let program = &lowered.program;
            if let Err(error) = crate::ir::verify::verify(program) {
                panic!("{source}\n{}", crate::ir::verify::annotate(program, &error));
            }
            crate::ir::print(program)
        }
        Err(errors) => panic!("{}", rendered(&errors)),
    }
}

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
