//! `schedule`: the kernels that a program of Bulk is contracted to; and one command for each pass
//! over kernels, of the pass's own name.

use pointful_compiler::contract::{self, schedule::schedule};
use pointful_compiler::ir::Program;
use pointful_compiler::ir::stages::cpu::Cpu;
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::targets::cpu;

use super::structure;
use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn run(file: &File) -> Result<Vec<Section>, String> {
    sections(file, &schedule(read(file.input())?))
}

/// Commands that run a pass over kernels.
macro_rules! passes {
    ($($module:path as $name:ident;)*) => {
        $(pub(crate) fn $name(file: &File) -> Result<Vec<Section>, String> {
            use $module as module;
            sections(file, &module::$name(read(file.input())?))
        })*
    };
}

passes! {
    contract as disjoint_updates;
    contract as horizontal_fusion;
    contract as in_place;
    contract as loop_fission;
    contract as loop_invariants;
    contract as scalar_replacement;
    contract as serialization;
    cpu as distribute;
    cpu as loop_skewing;
    cpu as online_softmax;
    cpu as pack_operands;
    cpu as parallelization;
    cpu as serial_version;
    cpu as tiling;
}

pub(crate) fn outline(file: &File) -> Result<Vec<Section>, String> {
    Ok(vec![write(&cpu::outline(read(file.input())?))?])
}

pub(crate) fn time_tiling(file: &File) -> Result<Vec<Section>, String> {
    outlined(file, cpu::time_tiling)
}

pub(crate) fn privatize(file: &File) -> Result<Vec<Section>, String> {
    outlined(file, cpu::privatize::privatize)
}

pub(crate) fn speculate(file: &File) -> Result<Vec<Section>, String> {
    outlined(file, cpu::speculate::speculate)
}

pub(crate) fn transpose_loops(file: &File) -> Result<Vec<Section>, String> {
    outlined(file, cpu::idioms::transpose)
}

pub(crate) fn multiversioning(file: &File) -> Result<Vec<Section>, String> {
    outlined(file, |cpu| cpu::multiversioning(cpu::split(cpu)))
}

/// A pass over what becomes of kernels.
fn outlined(file: &File, pass: fn(Program<Cpu>) -> Program<Cpu>) -> Result<Vec<Section>, String> {
    let program = pass(cpu::outline(read(file.input())?));
    Ok(vec![write(&program)?])
}

pub(crate) fn split(file: &File) -> Result<Vec<Section>, String> {
    Ok(vec![write(&cpu::split(read(file.input())?))?])
}

pub(crate) fn outer_loop(file: &File) -> Result<Vec<Section>, String> {
    let program = cpu::vectorize::outer_loop(read(file.input())?);
    Ok(vec![write(&program)?])
}

pub(crate) fn short_loops(file: &File) -> Result<Vec<Section>, String> {
    let program = cpu::vectorize::short_loops(read(file.input())?);
    Ok(vec![write(&program)?])
}

pub(crate) fn reductions(file: &File) -> Result<Vec<Section>, String> {
    let program = cpu::vectorize::reductions(read(file.input())?);
    Ok(vec![write(&program)?])
}

fn sections(file: &File, program: &Program<Kernels>) -> Result<Vec<Section>, String> {
    let structure = structure::kernels(file, program);
    Ok([write(program)?].into_iter().chain(structure).collect())
}
