//! A hidden Markov model: the logarithm of how likely what was observed is, by the forward
//! algorithm, and its gradient.

use std::sync::Arc;

use pointful::lib::logsumexp;
use pointful::prelude::*;

use crate::{Failure, Inputs, Task};

/// A step in time.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// What is hidden.
#[derive(Clone, Copy, IndexSet)]
pub struct State(usize);

/// What is seen.
#[derive(Clone, Copy, IndexSet)]
pub struct Symbol(usize);

/// How likely the symbols are. The tables hold logarithms of probabilities, up to a constant for
/// each row.
#[pointful]
pub fn log_likelihood(
    initial: &Table<State, f64>,
    transition: &Table<(State, State), f64>,
    emission: &Table<(State, Symbol), f64>,
    seen: &Table<Time, Symbol>,
) -> f64 {
    let begin = for s in State {
        initial[s] - logsumexp(initial)
    };
    let go = for (s, t) in (State, State) {
        transition[s][t] - logsumexp(&transition[s])
    };
    let show = for (s, o) in (State, Symbol) {
        emission[s][o] - logsumexp(&emission[s])
    };
    let mut forward = for s in State {
        begin[s] + show[s][seen[0]]
    };
    for t in Time.skip(1) {
        forward = for to in State {
            logsumexp(&for from in State {
                forward[from] + go[from][to]
            }) + show[to][seen[t]]
        };
    }
    logsumexp(&forward)
}

/// Seven steps of three states and two symbols.
pub(crate) fn small() -> Inputs {
    let seen = Table::<Dyn, i32>::from(vec![0, 1, 1, 0, 1, 0, 0]);
    Inputs::made()
        .noise("initial", Extent::<Dyn>::new(3), 1, |x| x)
        .noise("transition", Extent::<(Dyn, Dyn)>::new((3, 3)), 2, |x| x)
        .noise("emission", Extent::<(Dyn, Dyn)>::new((3, 2)), 3, |x| x)
        .with("seen", &seen)
}

struct Input {
    initial: Table<State, f64>,
    transition: Table<(State, State), f64>,
    emission: Table<(State, Symbol), f64>,
    seen: Table<Time, Symbol>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let emission: Table<(State, Symbol), f64> = inputs.table("emission")?;
    let symbols = Extent::new(emission.extent().axes()[1]);
    let input = Arc::new(Input {
        initial: inputs.table("initial")?,
        transition: inputs.table("transition")?,
        seen: inputs.indices("seen", symbols)?,
        emission,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "initial", "transition", "emission"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            log_likelihood(&a.initial, &a.transition, &a.emission, &a.seen)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(log_likelihood, wrt = (initial, transition, emission));
            let (value, (i, t, e)) = slope(&b.initial, &b.transition, &b.emission, &b.seen);
            (value, i, t, e)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

/// Too little in each step to be worth a second thread.
fn by_hand(input: &Input) -> f64 {
    let states = input.initial.len();
    let rows = |x: &[f64]| -> Vec<f64> {
        let of_row = |row: &[f64]| {
            let all = log_sum_exp(row);
            row.iter().map(|x| x - all).collect::<Vec<f64>>()
        };
        x.chunks_exact(x.len() / states).flat_map(of_row).collect()
    };
    let (go, show) = (
        rows(input.transition.as_slice()),
        rows(input.emission.as_slice()),
    );
    let symbols = show.len() / states;
    // What leads to a state lies side by side.
    let mut to: Vec<f64> = vec![0.0; states * states];
    for s in 0..states {
        for t in 0..states {
            to[t * states + s] = go[s * states + t];
        }
    }
    let seen = input.seen.ordinals();
    let all = log_sum_exp(input.initial.as_slice());
    let mut forward: Vec<f64> = (0..states)
        .map(|s| input.initial.as_slice()[s] - all + show[s * symbols + seen[0]])
        .collect();
    let mut next = forward.clone();
    let mut terms = forward.clone();
    for &symbol in &seen[1..] {
        for t in 0..states {
            let row = &to[t * states..][..states];
            for s in 0..states {
                terms[s] = forward[s] + row[s];
            }
            next[t] = log_sum_exp(&terms) + show[t * symbols + symbol];
        }
        std::mem::swap(&mut forward, &mut next);
    }
    log_sum_exp(&forward)
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}
