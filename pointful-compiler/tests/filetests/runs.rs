//! `run` lines: what a program gives for some inputs.
//!
//! ```text
//! a = [[1, 2], [3, 4]]; x = [1, 0]  ==  [1, 3]
//! N = 0; a = []; x = []  ==  []
//! a = []  ==  panic "of nothing"
//! ```
//!
//! A panic is expected with a part of its message, or without one where stages word it differently.
//! Inputs are the parameters by name, and sizes where no table shows them. Every line holds for
//! each program of the file, and for what the stages after it make of that program.

use pointful_compiler::contract::schedule::schedule;
use pointful_compiler::eval::compare::{Tolerance, difference};
use pointful_compiler::eval::{
    Counts, Data, EvalError, Evaluate, Inputs, STEP_LIMIT, run_in_order,
};
use pointful_compiler::expand::expand;
use pointful_compiler::ir::{Extent, Program};
use pointful_compiler::targets::cpu::outline;
use pointful_compiler::targets::gpu::map;

use crate::file::{File, Section};
use crate::stages::{Any, Text};
use crate::value::Value;

/// Checks all `run` lines of a file.
pub(crate) fn check(file: &File, given: &[Section]) -> Result<(), String> {
    if file.runs().next().is_none() {
        return Ok(());
    }
    let mut programs = Vec::new();
    for section in file.sections[..1].iter().chain(given) {
        if let Some(program) = Any::read(section)? {
            programs.push((section.tag.clone(), program));
        }
    }
    for section in file.runs() {
        for (number, line) in (section.above + 1..).zip(section.text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            if programs.is_empty() {
                return Err(format!("line {number}: there is nothing to run"));
            }
            let expected = Line::parse(line).map_err(|error| format!("line {number}: {error}"))?;
            for (tag, program) in &programs {
                holds(&expected, program)
                    .map_err(|error| format!("line {number}: by `{tag}`{error}\n  {line}"))?;
            }
        }
    }
    Ok(())
}

/// Whether a line holds for a program and for what follows from it.
fn holds(line: &Line, program: &Any) -> Result<(), String> {
    let by =
        |what: &str, result: Result<(), String>| result.map_err(|error| format!("{what}: {error}"));
    match program {
        Any::Point(program) => {
            by("", line.holds(program))?;
            let program = expand(program.clone());
            by(" and `expand`", line.holds(&program))?;
            by(
                ", `expand` and `schedule`",
                line.holds(&schedule(program.clone())),
            )
        }
        Any::Bulk(program) => {
            by("", line.holds(program))?;
            by(" and `schedule`", line.holds(&schedule(program.clone())))
        }
        Any::Kernels(program) => {
            by("", line.holds(program))?;
            by(" and `outline`", line.holds(&outline(program.clone())))?;
            match map(program.clone()) {
                Ok(program) => by(" and `map`", line.holds(&program)),
                Err(_) => Ok(()),
            }
        }
        Any::Cpu(program) => by("", line.holds(program)),
        Any::Gpu(program) => by("", line.holds(program)),
    }
}

/// A `run` line.
struct Line {
    inputs: Vec<(String, Value)>,
    outcome: Outcome,
}

enum Outcome {
    Results(Vec<Value>),
    /// A part of the message.
    Panic(String),
}

impl Line {
    fn parse(text: &str) -> Result<Self, String> {
        let (inputs, outcome) = text.split_once("==").ok_or("expected `==`")?;
        let inputs = inputs
            .split(';')
            .filter(|input| !input.trim().is_empty())
            .map(|input| {
                let (name, value) = input.split_once('=').ok_or("expected `name = value`")?;
                Ok((name.trim().to_string(), Value::parse(value)?))
            })
            .collect::<Result<_, String>>()?;
        let outcome = match outcome.trim().strip_prefix("panic").map(str::trim) {
            Some("") => Outcome::Panic(String::new()),
            Some(message) => {
                let message = message.strip_prefix('"');
                let message = message.and_then(|message| message.strip_suffix('"'));
                Outcome::Panic(message.ok_or("expected a message in quotes")?.to_string())
            }
            None => Outcome::Results(Value::parse_all(outcome)?),
        };
        Ok(Self { inputs, outcome })
    }

    fn holds<S: Text + Evaluate>(&self, program: &Program<S>) -> Result<(), String> {
        let inputs = self.inputs(program)?;
        (0..S::ORDERS)
            .try_for_each(|order| self.gives(run_in_order(program, &inputs, STEP_LIMIT, order)))
    }

    /// Whether a run gives what the line says.
    fn gives(&self, found: Result<(Vec<Data>, Counts), EvalError>) -> Result<(), String> {
        let (results, expected) = match (&found, &self.outcome) {
            (Ok((results, _)), Outcome::Results(expected)) => (results, expected),
            (Err(EvalError::Panic(message)), Outcome::Panic(part)) if message.contains(part) => {
                return Ok(());
            }
            (Err(error), _) => return Err(error.to_string()),
            (Ok((results, _)), Outcome::Panic(_)) => {
                return Err(format!("there is no panic but {}", shown(results)));
            }
        };
        if results.len() != expected.len() {
            return Err(format!("the results are {}", shown(results)));
        }
        for (found, expected) in results.iter().zip(expected) {
            let what = match expected.data(found.elem, &found.shape) {
                Ok(expected) => difference(found, &expected, Tolerance::default()),
                Err(error) => Some(error),
            };
            if let Some(what) = what {
                return Err(format!("the results are {}: {what}", shown(results)));
            }
        }
        Ok(())
    }

    /// The inputs of a program, with sizes from where they are found.
    fn inputs<S: Text + Evaluate>(&self, program: &Program<S>) -> Result<Inputs, String> {
        let value = |name: &str| self.inputs.iter().find(|(input, _)| input == name);
        let known = |name: &str| {
            program.params.iter().any(|param| param.name == name)
                || program.sizes.iter().any(|size| size.name == name)
        };
        if let Some((name, _)) = self.inputs.iter().find(|(name, _)| !known(name)) {
            return Err(format!("no parameter or size is called `{name}`"));
        }
        let mut sizes = Vec::new();
        for size in &program.sizes {
            sizes.push(match value(&size.name) {
                Some((_, Value::Atom(text))) => Some(count(text)?),
                Some((name, Value::List(_))) => return Err(format!("`{name}` is a size")),
                None => None,
            });
        }
        let mut given = Vec::new();
        for param in &program.params {
            let (_, value) = value(&param.name)
                .ok_or_else(|| format!("the parameter `{}` is missing", param.name))?;
            let ty = program.ty(param.value);
            for (&dim, length) in ty.dims.iter().zip(value.lengths()) {
                if let Extent::Size(size) = S::extent(program, dim) {
                    sizes[size.0 as usize].get_or_insert(length);
                }
            }
            given.push((ty, value));
        }
        let unknown = sizes.iter().position(Option::is_none);
        if let Some(unknown) = unknown {
            let name = &program.sizes[unknown].name;
            return Err(format!("nothing says how large `{name}` is"));
        }
        let sizes: Vec<usize> = sizes.into_iter().flatten().collect();
        let extent = |extent: Extent| match extent {
            Extent::Const(n) => usize::try_from(n).map_err(|error| error.to_string()),
            Extent::Size(size) => Ok(sizes[size.0 as usize]),
            Extent::Value(value) => {
                let param = program.params.iter().position(|param| param.value == value);
                match param.map(|k| given[k].1) {
                    Some(Value::Atom(text)) => count(text),
                    _ => Err("the extent of a parameter is computed".into()),
                }
            }
        };
        let mut params = Vec::new();
        for (param, (ty, value)) in program.params.iter().zip(&given) {
            let shape = ty.dims.iter().map(|&dim| extent(S::extent(program, dim)));
            let shape = shape.collect::<Result<Vec<usize>, String>>()?;
            let data = value.data(ty.elem.repr(), &shape);
            params.push(data.map_err(|error| format!("`{}`: {error}", param.name))?);
        }
        Ok(Inputs { sizes, params })
    }
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no extent"))
}

fn shown(results: &[Data]) -> String {
    let texts: Vec<String> = results.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
