//! Programs in sections, whatever their stage.

use pointful_compiler::ir::Program;
use pointful_compiler::ir::parse::{Parse, parse};
use pointful_compiler::ir::print::print;
use pointful_compiler::ir::stages::{
    bulk::Bulk, cpu::Cpu, gpu::Gpu, kernels::Kernels, point::Point,
};
use pointful_compiler::ir::verify::{Verify, annotate, verify};

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
    parse(&section.text).map_err(|error| format!("section at line {}:\n{error}", section.above))
}

/// A section with this program in it, which a command gives: it must be valid, and reading and
/// printing it again must change nothing.
pub(crate) fn write<S: Text>(program: &Program<S>) -> Result<Section, String> {
    let section = Section::new(S::NAME, &print(program));
    let wrong = |what: &str| {
        format!(
            "the {} that the command gives {what}:\n{}",
            S::NAME,
            section.text
        )
    };
    if let Err(error) = verify(program) {
        return Err(wrong(&format!(
            "is invalid: {error}\n{}",
            annotate(program, &error)
        )));
    }
    let again = read::<S>(&section).map_err(|error| wrong(&format!("does not parse: {error}")))?;
    let again = print(&again);
    if again != section.text {
        return Err(wrong(&format!("is not what is read back:\n{again}")));
    }
    Ok(section)
}

/// A program of any stage.
pub(crate) enum Any {
    Point(Program<Point>),
    Bulk(Program<Bulk>),
    Kernels(Program<Kernels>),
    Cpu(Program<Cpu>),
    Gpu(Program<Gpu>),
}

impl Any {
    /// The program in a section, or `None` if it holds something else.
    pub(crate) fn read(section: &Section) -> Result<Option<Self>, String> {
        Ok(match section.tag.as_str() {
            "point" => Some(Self::Point(read(section)?)),
            "bulk" => Some(Self::Bulk(read(section)?)),
            "kernels" => Some(Self::Kernels(read(section)?)),
            "cpu" => Some(Self::Cpu(read(section)?)),
            "gpu" => Some(Self::Gpu(read(section)?)),
            _ => None,
        })
    }

    /// A section with this program in it.
    pub(crate) fn write(&self) -> Result<Section, String> {
        match self {
            Self::Point(program) => write(program),
            Self::Bulk(program) => write(program),
            Self::Kernels(program) => write(program),
            Self::Cpu(program) => write(program),
            Self::Gpu(program) => write(program),
        }
    }
}
