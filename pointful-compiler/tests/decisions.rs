//! What is compiled and run by the tests of the corpus reaches every decision of the compiler: each
//! pass over kernels, and over what a processor does, changes several of its programs, and several
//! are emitted in each form that emission knows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pointful_compiler::pipeline::{self, OVER_CPU, OVER_KERNELS, Stages, Trace};
use pointful_compiler::targets::cpu::outline;
use pointful_compiler::testing::programs_to_compile;
use pointful_compiler::testing::source::public_functions;

/// In how many programs each decision is at least.
const LEAST: usize = 5;

/// What is called in only one form of emitted code, and what that is for.
const CALLS: [(&str, &str); 10] = [
    ("fold_lanes (", "sums in lanes"),
    ("first_extremum (", "searches in lanes"),
    ("launch_steps (", "steps over tiles of rows"),
    ("accumulate_steps (", "steps that add up"),
    ("noting (", "noted scatters"),
    ("transpose (", "transposes"),
    ("contract (", "matrix products"),
    ("contract_absorb (", "absorbing matrix products"),
    ("masked (", "choices in lanes"),
    ("nearest (", "edges that the loop computes"),
];

/// The programs of the corpus that come from the front: its public functions, and random ones.
fn corpus() -> impl Iterator<Item = Stages> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    let files = fs::read_dir(root).expect("the corpus is there");
    let mut files: Vec<PathBuf> = files
        .map(|file| file.expect("a readable file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files.reverse();
    let written = files
        .into_iter()
        .flat_map(|path| public_functions(&fs::read_to_string(path).expect("a readable file")));
    written.chain(programs_to_compile().map(|(stages, _)| stages))
}

#[test]
fn every_decision_is_taken() {
    let over_kernels = OVER_KERNELS.map(|pass| pass.name);
    let over_cpu = OVER_CPU.map(|pass| pass.name);
    let forms = CALLS.map(|(_, form)| form);
    let all = over_kernels.into_iter().chain(over_cpu).chain(forms);
    let mut counts: BTreeMap<&str, usize> = all.map(|what| (what, 0)).collect();
    for stages in corpus() {
        let mut count = |what, is_taken| *counts.entry(what).or_default() += usize::from(is_taken);
        let bulk = stages.bulk.clone();
        let mut kernels = pipeline::scheduled(&mut Trace::default(), bulk);
        for pass in OVER_KERNELS {
            let after = (pass.run)(kernels.clone());
            count(pass.name, after.body != kernels.body);
            kernels = after;
        }
        let mut cpu = outline(kernels);
        for pass in OVER_CPU {
            let after = (pass.run)(cpu.clone());
            count(pass.name, after.body != cpu.body);
            cpu = after;
        }
        let text = pipeline::emit(&stages).to_string();
        for (call, form) in CALLS {
            count(form, text.contains(call));
        }
        if counts.values().all(|&count| count >= LEAST) {
            return;
        }
    }
    counts.retain(|_, count| *count < LEAST);
    panic!("seldom taken: {counts:?}");
}
