//! `pointful-fuzz` compiles random functions and random derivatives with rustc in release mode,
//! runs each at several sizes, and compares them with plain loops. It prints how many agree, and
//! the text of those that do not.
//!
//! ```text
//! cargo run --release -p pointful-fuzz -- --programs 100 --first 0
//! ```

mod batch;
mod module;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use batch::{Entry, Outcome, Workshop};
use pointful_compiler::testing::twice::{Asked, Written};
use table::Table;

/// What is asked for on the command line.
struct Options {
    first: u64,
    programs: u64,
    batch: usize,
    /// How often each is run.
    runs: usize,
    shrink: bool,
    /// Whether the language's compiler is built with its own assertions.
    assertions: bool,
    /// Whether functions run on the emulated device.
    device: bool,
    /// Where the text of what fails is written.
    failures: PathBuf,
    name: String,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            first: 0,
            programs: 100,
            batch: 40,
            runs: 6,
            shrink: false,
            assertions: true,
            device: false,
            failures: PathBuf::from("target/fuzz/failures"),
            name: "batch".to_owned(),
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--shrink" => options.shrink = true,
                "--no-assertions" => options.assertions = false,
                "--device" => options.device = true,
                _ => options.value(&arg, args.next()),
            }
        }
        options
    }

    fn value(&mut self, arg: &str, value: Option<String>) {
        let value = value.unwrap_or_else(|| panic!("no such option, or it has no value: {arg}"));
        let number = || {
            value
                .parse()
                .unwrap_or_else(|_| panic!("{arg} is a number"))
        };
        match arg {
            "--first" => self.first = number(),
            "--programs" => self.programs = number(),
            "--batch" => self.batch = number() as usize,
            "--runs" => self.runs = number() as usize,
            "--failures" => self.failures = PathBuf::from(value),
            "--name" => self.name = value,
            other => panic!("no such option: {other}"),
        }
    }
}

/// One function, or one derivative.
#[derive(Clone, Debug)]
struct Case {
    asked: Asked,
    derivative: bool,
}

impl Case {
    fn name(&self) -> String {
        let kind = if self.derivative { "d" } else { "f" };
        let without: Vec<String> = self
            .asked
            .without
            .iter()
            .map(|number| format!("_{number}"))
            .collect();
        format!("{kind}_{}{}", self.asked.seed, without.concat())
    }

    fn entry(&self, options: &Options) -> Entry {
        let written = Written::new(&self.asked);
        let name = self.name();
        Entry {
            text: module::module(
                &written,
                self.asked.seed,
                self.derivative,
                options.runs,
                options.device,
            ),
            name,
        }
    }
}

fn main() {
    let options = Options::read();
    let workshop = Workshop::new(&options.name, options.assertions, options.device);
    std::fs::create_dir_all(&options.failures).expect("a folder can be made");
    let mut table = Table::default();
    let seeds: Vec<u64> = (options.first..options.first + options.programs).collect();
    for some in seeds.chunks(options.batch.div_ceil(2).max(1)) {
        let cases: BTreeMap<String, Case> = (some.iter())
            .flat_map(|&seed| {
                [false, true].map(|derivative| Case {
                    asked: Asked {
                        seed,
                        ..Asked::default()
                    },
                    derivative,
                })
            })
            .map(|case| (case.name(), case))
            .collect();
        let entries: Vec<Entry> = cases.values().map(|case| case.entry(&options)).collect();
        for (name, outcome) in workshop.outcomes(&entries) {
            let case = &cases[&name];
            table.count(case.derivative, &outcome);
            if !matches!(outcome, Outcome::Agrees | Outcome::Discarded) {
                let (case, outcome) = if options.shrink {
                    shrunk(&workshop, case, &outcome, &options)
                } else {
                    (case.clone(), outcome)
                };
                let text = case.entry(&options).text;
                let report = format!("// {outcome:?}\n{text}");
                let path = options.failures.join(format!("{name}.rs"));
                std::fs::write(&path, report).expect("a file can be written");
                println!("{name}: {}", table::short(&outcome));
            }
        }
        println!("{table}");
    }
}

/// The same kind of failure with fewer statements.
fn shrunk(
    workshop: &Workshop,
    case: &Case,
    outcome: &Outcome,
    options: &Options,
) -> (Case, Outcome) {
    let mut best = (case.clone(), outcome.clone());
    loop {
        let written = Written::new(&best.0.asked);
        let without = &best.0.asked.without;
        let smaller: BTreeMap<String, Case> = written
            .smaller(without)
            .into_iter()
            .map(|without: BTreeSet<usize>| Case {
                asked: Asked {
                    without,
                    ..best.0.asked.clone()
                },
                derivative: case.derivative,
            })
            .map(|case| (case.name(), case))
            .collect();
        let entries: Vec<Entry> = smaller.values().map(|case| case.entry(options)).collect();
        if entries.is_empty() {
            return best;
        }
        let size = |name: &str| smaller[name].entry(options).text.len();
        let failing = (workshop.outcomes(&entries).into_iter())
            .filter(|(_, found)| table::same_kind(found, outcome))
            .min_by_key(|(name, _)| size(name));
        match failing {
            Some((name, found)) => best = (smaller[&name].clone(), found),
            None => return best,
        }
    }
}
