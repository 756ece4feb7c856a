//! `simplify`, `cse`, `dce`: a program of Point or Bulk made simpler at its own stage, or a section
//! `unchanged`.
//!
//! The result must be a fixed point: the pass changes nothing the second time.

use pointful_compiler::ir::Program;
use pointful_compiler::ir::stages::{bulk::Bulk, point::Point};
use pointful_compiler::{canonicalize, contract, differentiate, expand};

use crate::file::{File, Section};
use crate::stages::{Text, read, write};

pub(crate) fn simplify(file: &File) -> Result<Vec<Section>, String> {
    either(file, canonicalize::simplify, canonicalize::simplify)
}

pub(crate) fn cse(file: &File) -> Result<Vec<Section>, String> {
    either(file, canonicalize::cse, canonicalize::cse)
}

pub(crate) fn dce(file: &File) -> Result<Vec<Section>, String> {
    either(file, canonicalize::dce, canonicalize::dce)
}

pub(crate) fn uniform_values(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, |program| {
        canonicalize::dce(contract::uniform_values(program))
    })
}

pub(crate) fn residual_slices(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, differentiate::residual_slices)
}

pub(crate) fn predicate_updates(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, contract::predicate_updates)
}

pub(crate) fn bounds_check_elimination(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, canonicalize::bounds_check_elimination)
}

pub(crate) fn doall(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, canonicalize::doall)
}

pub(crate) fn owner_computes(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, canonicalize::owner_computes)
}

pub(crate) fn unroll(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, |program: Program<Point>| {
        canonicalize::dce(canonicalize::simplify(canonicalize::unroll(program)))
    })
}

pub(crate) fn rectangular_hull(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, expand::rectangular_hull)
}

pub(crate) fn loop_interchange(file: &File) -> Result<Vec<Section>, String> {
    tidied(file, expand::loop_interchange)
}

fn either(
    file: &File,
    point: fn(Program<Point>) -> Program<Point>,
    bulk: fn(Program<Bulk>) -> Program<Bulk>,
) -> Result<Vec<Section>, String> {
    match file.input().tag.as_str() {
        "bulk" => tidied(file, bulk),
        _ => tidied(file, point),
    }
}

fn tidied<S: Text>(
    file: &File,
    pass: fn(Program<S>) -> Program<S>,
) -> Result<Vec<Section>, String> {
    let before = read::<S>(file.input())?;
    let given = write(&before)?;
    let program = pass(before);
    let section = write(&program)?;
    let again = write(&pass(program))?;
    if again != section {
        return Err(format!(
            "the second time, `{}` gives something else:\n{}",
            file.command, again.text
        ));
    }
    if section == given {
        return Ok(vec![Section::new("unchanged", "")]);
    }
    Ok(vec![section])
}
