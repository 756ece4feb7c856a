//! `map`: what the threads of a device do for kernels, or what they cannot do yet. `cuda`: the text
//! of their kernels.

use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::targets::gpu;

use crate::file::{File, Section};
use crate::stages::{read, write};

pub(crate) fn map(file: &File) -> Result<Vec<Section>, String> {
    let kernels = read::<Kernels>(file.input())?;
    Ok(vec![match gpu::map(kernels) {
        Ok(program) => write(&program)?,
        Err(missing) => Section::new("missing", &missing.to_string()),
    }])
}

pub(crate) fn cuda(file: &File) -> Result<Vec<Section>, String> {
    let program = read(file.input())?;
    Ok(vec![Section::new("cuda", &gpu::cuda::text(&program))])
}
