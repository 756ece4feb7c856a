//! Programs in sections, whatever their stage.

use pointful_compiler::ir::Program;
use pointful_compiler::ir::parse::{Parse, parse};
use pointful_compiler::ir::print::print;
use pointful_compiler::ir::stages::{bulk::Bulk, kernels::Kernels, point::Point};
use pointful_compiler::ir::verify::{Verify, verify};

use crate::file::Section;

/// What can be done with a stage's programs.
pub(crate) trait Text: Parse + Verify {}
impl<S: Parse + Verify> Text for S {}

/// The program in a section, which must be valid.
pub(crate) fn read<S: Text>(section: &Section) -> Result<Program<S>, String> {
    if section.tag != S::NAME {
        return Err(format!(
            "line {}: expected a section `{}`",
            section.above,
            S::NAME
        ));
    }
    let program = parse(&section.text)
        .map_err(|error| format!("section at line {}:\n{error}", section.above))?;
    verify(&program).map_err(|error| format!("section at line {}:\n{error}", section.above))?;
    Ok(program)
}

/// A section with this program in it.
pub(crate) fn write<S: Text>(program: &Program<S>) -> Section {
    Section::new(S::NAME, &print(program))
}

/// A program of any stage.
pub(crate) enum Any {
    Point(Program<Point>),
    Bulk(Program<Bulk>),
    Kernels(Program<Kernels>),
}

impl Any {
    /// The program in a section, or `None` if it holds something else.
    pub(crate) fn read(section: &Section) -> Result<Option<Self>, String> {
        Ok(match section.tag.as_str() {
            "point" => Some(Self::Point(read(section)?)),
            "bulk" => Some(Self::Bulk(read(section)?)),
            "kernels" => Some(Self::Kernels(read(section)?)),
            _ => None,
        })
    }

    /// A section with this program in it.
    pub(crate) fn write(&self) -> Section {
        match self {
            Self::Point(program) => write(program),
            Self::Bulk(program) => write(program),
            Self::Kernels(program) => write(program),
        }
    }
}

/// Checks that a printed program is valid and that reading and printing it again changes nothing.
pub(crate) fn check_printed(section: &Section) -> Result<(), String> {
    let wrong = |what: &str| {
        format!(
            "the {} that the command gives {what}:\n{}",
            section.tag, section.text
        )
    };
    let Some(program) =
        Any::read(section).map_err(|error| wrong(&format!("is invalid: {error}")))?
    else {
        return Ok(());
    };
    let again = program.write().text;
    if again == section.text {
        return Ok(());
    }
    Err(wrong(&format!("is not what is read back:\n{again}")))
}
