//! Every workload at a small size: generated code against code by hand, gradients against
//! differences, and what is counted.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use pointful_compare::{By, Inputs, Task, WORKLOADS, Workload};

fn tasks(workload: &Workload, inputs: &Inputs) -> Vec<Task> {
    (workload.open)(inputs).unwrap_or_else(|error| panic!("{}: {error}", workload.name))
}

fn task<'a>(tasks: &'a [Task], name: &str, by: By) -> Option<&'a Task> {
    tasks.iter().find(|task| task.name == name && task.by == by)
}

/// How far apart they may be, relative to the largest: results of `f32` are as inexact as that is.
fn tolerance(numbers: &[f64]) -> f64 {
    let single = numbers.iter().all(|&x| f64::from(x as f32) == x);
    if single { 1e-4 } else { 1e-10 }
}

#[track_caller]
fn assert_close(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs.iter().fold(1e-30_f64, |top, x| top.max(x.abs()));
    for (k, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "{what}, number {k}: {a}, not {b}"
        );
    }
}

#[test]
fn as_by_hand() {
    for workload in WORKLOADS {
        let tasks = tasks(workload, &(workload.small)());
        let mut compared = 0;
        for ours in tasks.iter().filter(|task| task.by == By::Pointful) {
            let Some(theirs) = task(&tasks, ours.name, By::Hand) else {
                continue;
            };
            compared += 1;
            for ((name, ours_found), (same, found)) in ours.answer().iter().zip(theirs.answer()) {
                assert_eq!(*name, same);
                let what = format!("{} {} {name}", workload.name, ours.name);
                assert_close(&what, ours_found, &found, tolerance(ours_found));
            }
        }
        assert!(compared > 0, "{} has nothing done by hand", workload.name);
    }
}

/// What a workload's gradients are of: inputs of the same names, moved along a direction.
#[test]
fn gradients_by_differences() {
    for workload in WORKLOADS {
        let inputs = (workload.small)();
        let at = tasks(workload, &inputs);
        let Some(gradient) = task(&at, "gradient", By::Pointful) else {
            continue;
        };
        let answer: BTreeMap<_, _> = gradient.answer().into_iter().collect();
        for name in gradient.results.iter().filter(|name| **name != "value") {
            let slope = &answer[name];
            let mut noise = pointful_adbench::noise::Noise::new(7);
            for _ in 0..3 {
                let direction = noise.vec(slope.len());
                let known: f64 = slope.iter().zip(&direction).map(|(a, b)| a * b).sum();
                let single = inputs.is_single(name);
                let step = if single { 2e-3 } else { 1e-4 } * inputs.largest(name, slope.len());
                let value = |step: f64| {
                    let moved = tasks(workload, &inputs.moved(name, &direction, step));
                    task(&moved, "value", By::Pointful)
                        .expect("it has a value")
                        .answer()[0]
                        .1[0]
                };
                let found = (value(step) - value(-step)) / (2.0 * step);
                let size: f64 = slope.iter().map(|x| x * x).sum::<f64>().sqrt();
                let allowed = if single { 2e-2 } else { 1e-6 } * size.max(1e-3);
                assert!(
                    (found - known).abs() <= allowed,
                    "{} by {name}: {known}, by differences {found}",
                    workload.name
                );
            }
        }
    }
}

/// `BLESS=1` writes the counts anew.
#[test]
fn counts() {
    let mut found = String::new();
    for workload in WORKLOADS {
        for task in tasks(workload, &(workload.small)()) {
            if task.by == By::Pointful {
                let stats = task.count();
                writeln!(
                    found,
                    "{} {}: {} launches, {} operations, {} allocations of {} bytes, at most {} at a time, {} in place",
                    workload.name,
                    task.name,
                    stats.launches,
                    stats.operations,
                    stats.allocations,
                    stats.allocated_bytes,
                    stats.peak_bytes,
                    stats.in_place,
                )
                .expect("a string can be written to");
            }
        }
    }
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "counts.txt"]
        .iter()
        .collect();
    if env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &found).expect("it can be written");
    }
    let known = fs::read_to_string(&path).expect("the counts are written down");
    assert_eq!(found, known, "if this is right, run again with BLESS=1");
}
