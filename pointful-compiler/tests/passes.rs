//! Every program of the filetests goes through all passes: after each it is valid, and gives what
//! it gave before.

use std::fs;
use std::path::Path;

use pointful_compiler::canonicalize::{
    bounds_check_elimination, cse, dce, doall, owner_computes, simplify,
};
use pointful_compiler::eval::compare::{Tolerance, difference};
use pointful_compiler::eval::{Data, EvalError, Evaluate, Inputs, ScalarValue, run_limited};
use pointful_compiler::expand::expand;
use pointful_compiler::ir::stages::point::Point;
use pointful_compiler::ir::{Elem, Extent, Program, Scalar, Verify, parse, print, verify};

/// The Point programs in the filetests: every section `point` of every file.
fn corpus() -> Vec<(String, Program<Point>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests");
    let mut files: Vec<_> = fs::read_dir(root)
        .expect("the filetests are there")
        .map(|directory| directory.expect("a readable directory").path())
        .filter(|directory| !directory.ends_with("verify"))
        .flat_map(|directory| fs::read_dir(directory).expect("a readable directory"))
        .map(|file| file.expect("a readable file").path())
        .collect();
    files.sort();
    let mut programs = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        for section in text.split("---- ").skip(1) {
            let Some(program) = section.strip_prefix("point\n") else {
                continue;
            };
            // A derivative has no meaning before it is taken.
            if [" vjp (", " jvp ("].iter().any(|op| program.contains(op)) {
                continue;
            }
            let name = file.display().to_string();
            let program = parse(program).unwrap_or_else(|error| panic!("{name}: {error}"));
            programs.push((name, program));
        }
    }
    assert!(programs.len() > 100, "too few programs are found");
    programs
}

/// Far more steps than a program on inputs this small needs.
const STEPS: u64 = 100_000;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Inputs for a program, or none if it takes an index of an empty set.
fn inputs(program: &Program<Point>, random: &mut Random) -> Option<Inputs> {
    // How large a product is follows from its parts, which the program's interface knows.
    if program
        .sizes
        .iter()
        .any(|size| size.name.starts_with("Product"))
    {
        return None;
    }
    let sizes: Vec<usize> = program.sizes.iter().map(|_| random.below(5)).collect();
    let size = |extent: Extent| match extent {
        Extent::Const(n) => n as usize,
        Extent::Size(id) => sizes[id.0 as usize],
        Extent::Value(_) => 0,
    };
    let mut params = Vec::new();
    for param in &program.params {
        let ty = program.ty(param.value);
        let shape: Vec<usize> = ty.dims.iter().map(|&dim| size(dim)).collect();
        let mut values = Vec::new();
        for _ in 0..shape.iter().product::<usize>() {
            values.push(match ty.elem {
                Elem::Index(extent) if size(extent) == 0 => return None,
                Elem::Index(extent) | Elem::Bound(extent) => {
                    ScalarValue::Usize(random.below(size(extent)))
                }
                Elem::Scalar(Scalar::Bool) => ScalarValue::Bool(random.below(2) == 0),
                Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64)) => {
                    ScalarValue::from_float(scalar, random.below(64) as f64 / 16.0 - 2.0)
                }
                Elem::Scalar(scalar) if scalar.is_signed_int() => {
                    ScalarValue::from_int(scalar, random.below(7) as i128 - 2)
                }
                Elem::Scalar(scalar) => ScalarValue::from_int(scalar, random.below(5) as i128),
            });
        }
        params.push(Data::new(ty.elem.repr(), shape, values));
    }
    Some(Inputs { sizes, params })
}

/// A program under test: what it gave at the beginning, for each of some inputs.
struct Case {
    name: String,
    runs: Vec<(Inputs, Result<Vec<Data>, EvalError>)>,
}

impl Case {
    fn new(name: String, program: &Program<Point>) -> Self {
        let mut random = Random(program.values.len() as u64);
        let runs = (0..24)
            .filter_map(|_| inputs(program, &mut random))
            .map(|inputs| {
                let outcome = run_limited(program, &inputs, STEPS).map(|(results, _)| results);
                (inputs, outcome)
            })
            // What does not end means nothing.
            .filter(|(_, outcome)| !matches!(outcome, Err(EvalError::StepLimit)))
            .collect();
        Self { name, runs }
    }

    /// Checks that a program is valid and does what the case's does. Which of several panics comes
    /// first is left open.
    fn check<S: Verify + Evaluate>(
        &self,
        pass: &str,
        program: Program<S>,
    ) -> Result<Program<S>, String> {
        match self.difference(&program) {
            None => Ok(program),
            Some(what) => Err(format!(
                "{}\nafter {pass}: {what}\n{}",
                self.name,
                print(&program)
            )),
        }
    }

    fn difference<S: Verify + Evaluate>(&self, program: &Program<S>) -> Option<String> {
        if let Err(error) = verify(program) {
            return Some(error.to_string());
        }
        for (inputs, before) in &self.runs {
            let after = run_limited(program, inputs, 10 * STEPS).map(|(results, _)| results);
            let what = match (before, &after) {
                (Ok(before), Ok(after)) => before
                    .iter()
                    .zip(after)
                    .find_map(|(a, b)| difference(a, b, Tolerance::default())),
                // A check that nobody needs may have gone.
                (Err(EvalError::Panic(_)), Err(EvalError::Panic(_)) | Ok(_)) => None,
                _ => Some(format!("{before:?} has become {after:?}")),
            };
            if let Some(what) = what {
                return Some(format!("{what}\n{inputs:?}"));
            }
        }
        None
    }

    fn every_pass(&self, program: &Program<Point>) -> Result<(), String> {
        self.check("bulk alone", expand(program.clone()))?;
        let program = self.check("cse", cse(program.clone()))?;
        let program = self.check("simplify", simplify(program))?;
        let program = self.check("dce", dce(program))?;
        let program = self.check(
            "bounds_check_elimination",
            bounds_check_elimination(program),
        )?;
        let program = self.check("doall", doall(program))?;
        let program = self.check("owner_computes", owner_computes(program))?;
        let program = self.check("bulk", expand(program))?;
        let program = self.check("simplify", simplify(program))?;
        let program = self.check("cse", cse(program))?;
        let program = self.check("simplify", simplify(program))?;
        self.check("dce", dce(program))?;
        Ok(())
    }
}

#[test]
fn every_pass_keeps_the_meaning() {
    let failures: Vec<String> = corpus()
        .into_iter()
        .filter_map(|(name, program)| Case::new(name, &program).every_pass(&program).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} programs change:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}
