//! Random functions of loops over a small table whose members are read, written and compared by
//! turns, so that where a member's derivative is asked for depends on where another one's is.

use std::fmt::Write;

use super::derivative::{Checked, check_derivative};
use super::entered::{SETTLED, UNSETTLED};
use super::rng::Rng;
use super::source::{inputs_of, lowered};

/// The most that a statement of a step may be a loop of some.
const NESTS: usize = 2;

/// The function `f`.
fn text(rng: &mut Rng) -> String {
    let members = 1 + rng.below(3);
    let mut steps = String::new();
    for _ in 0..3 + rng.below(3) {
        statement(rng, members, NESTS, &mut steps);
    }
    let last = rng.below(members);
    format!(
        "fn f(a: f64, x: f64, y: f64, steps: usize) -> f64 {{
           let mut u = for i in Fin::<{members}> {{ x + 0.25 * i.ordinal() as f64 }};
           let mut s = x;
           for t in 0..steps {{ {steps} }}
           s + u[{last}]
         }}"
    )
}

/// A statement of a step: over all members, at one, or of the number beside them.
fn statement(rng: &mut Rng, members: usize, nests: usize, out: &mut String) {
    if nests > 0 && rng.chance(15) {
        out.push_str("for k in 0..2 { ");
        for _ in 0..1 + rng.below(2) {
            statement(rng, members, nests - 1, out);
        }
        out.push_str("} ");
        return;
    }
    let form = rng.weighted(&[
        (4, "u = for i in Fin::<L> { 0.5 * u[i] + 0.5 * u[K] * a.sin() };"),
        (2, "u = for i in Fin::<L> { 0.5 * u[i] + 0.25 * u[i] * (0.3 * i.ordinal() as f64).sin() };"),
        (1, "u = for i in Fin::<L> { if i.ordinal() == K { y } else { u[i] } };"),
        (1, "u[K] = 0.5 * s + 0.125 * u[J];"),
        (6, "s += u[K];"),
        (1, "s = 0.5 * s + 0.25 * u[K] * y;"),
        (1, "s = s.max(u[K]);"),
        (1, "s = if u[J] > 0.3 { u[K] } else { s };"),
    ]);
    let [k, j] = [(); 2].map(|()| rng.below(members).to_string());
    let form = form.replace('L', &members.to_string());
    let form = form.replace('K', &k).replace('J', &j);
    write!(out, "{form} ").expect("text grows");
}

#[test]
fn derivatives_of_states_that_ask_for_each_other() {
    let (mut compared, seeds) = (0, 0..300);
    for seed in seeds.clone() {
        let rng = &mut Rng::new(seed);
        let text = text(rng);
        let program = lowered(&text);
        let sizes = program.sizes.iter().map(|_| rng.below(5)).collect();
        let inputs = inputs_of(&program, sizes, rng);
        match check_derivative(&program, &inputs, seed) {
            Ok(Checked::Fine(_)) => compared += 1,
            Ok(Checked::Unsuitable(_)) => {}
            Err(message) => panic!("seed {seed}: {message}\n{text}"),
        }
    }
    let (settled, unsettled) = (SETTLED.take(), UNSETTLED.take());
    assert!(compared > 200, "only {compared} of {seeds:?} are compared");
    assert!(
        settled >= 5 && unsettled >= 5,
        "{settled} walks settle, {unsettled} do not"
    );
}
