//! Message passing on a graph: in each round a node adds up what its neighbours are, and a dense
//! layer makes its next state of that; then a logistic loss.

use std::sync::Arc;

use pointful::lib::softplus;
use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A node.
#[derive(Clone, Copy, IndexSet)]
pub struct Node(usize);

/// An edge, along which a message goes.
#[derive(Clone, Copy, IndexSet)]
pub struct Edge(usize);

/// A number of a node's state.
#[derive(Clone, Copy, IndexSet)]
pub struct Feature(usize);

/// A round, which has weights of its own.
#[derive(Clone, Copy, IndexSet)]
pub struct Round(usize);

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How a node's own state counts.
    pub own: Table<(Round, Feature, Feature), f32>,
    /// How what comes to it counts.
    pub come: Table<(Round, Feature, Feature), f32>,
    /// How the next state inclines.
    pub bias: Table<(Round, Feature), f32>,
    /// How the last state counts.
    pub readout: Table<Feature, f32>,
}

/// The mean logistic loss of what is read off the nodes after all rounds.
#[pointful]
pub fn loss(
    network: &Network,
    start: &Table<(Node, Feature), f32>,
    from: &Table<Edge, Node>,
    to: &Table<Edge, Node>,
    labels: &Table<Node, f32>,
) -> f32 {
    let mut state = start;
    for r in Round {
        let mut come = Accum::zeros((Node, Feature));
        for e in Edge {
            for f in Feature {
                come[to[e]][f] += state[from[e]][f];
            }
        }
        let come = come.get();
        state = for (n, f) in (Node, Feature) {
            let own = sum(network.own[r][f] * state[n]);
            let come = sum(network.come[r][f] * come[n]);
            (own + come + network.bias[r][f]).max(0.0)
        };
    }
    mean(for n in Node {
        let score = sum(network.readout * state[n]);
        softplus(score) - labels[n] * score
    })
}

/// Six nodes with three features, ten edges, two rounds.
pub(crate) fn small() -> Inputs {
    let (n, e, f, r) = (6, 10, 3, 2);
    let mut noise = Noise::new(9);
    let mut ends = || -> Table<Dyn, i32> { (0..e).map(|_| noise.below(n) as i32).collect() };
    let weights = Extent::<(Dyn, Dyn, Dyn)>::new((r, f, f));
    Inputs::made()
        .with("from", &ends())
        .with("to", &ends())
        .noise("own", weights, 1, single)
        .noise("come", weights, 2, single)
        .noise("bias", Extent::<(Dyn, Dyn)>::new((r, f)), 3, single)
        .noise("readout", Extent::<Dyn>::new(f), 4, single)
        .noise("start", Extent::<(Dyn, Dyn)>::new((n, f)), 5, single)
        .noise("labels", Extent::<Dyn>::new(n), 6, |x| if x > 0.0 { 1.0f32 } else { 0.0 })
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    network: Network,
    start: Table<(Node, Feature), f32>,
    from: Table<Edge, Node>,
    to: Table<Edge, Node>,
    labels: Table<Node, f32>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let labels: Table<Node, f32> = inputs.table("labels")?;
    let input = Arc::new(Input {
        network: Network {
            own: inputs.table("own")?,
            come: inputs.table("come")?,
            bias: inputs.table("bias")?,
            readout: inputs.table("readout")?,
        },
        start: inputs.table("start")?,
        from: inputs.indices("from", labels.extent())?,
        to: inputs.indices("to", labels.extent())?,
        labels,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "own", "come", "bias", "readout"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.network, &a.start, &a.from, &a.to, &a.labels)
        }),
        Task::pointful("gradient", slopes, move || {
            let slope = value_and_grad!(loss, wrt = network);
            let (value, s) = slope(&b.network, &b.start, &b.from, &b.to, &b.labels);
            (value, s.own, s.come, s.bias, s.readout)
        }),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn by_hand(input: &Input) -> f32 {
    let (nodes, features) = input.start.extent().size();
    let (from, to) = (input.from.ordinals(), input.to.ordinals());
    let square = features * features;
    let rounds = input.network.own.as_slice().chunks_exact(square);
    let rounds = rounds.zip(input.network.come.as_slice().chunks_exact(square));
    let rounds = rounds.zip(input.network.bias.as_slice().chunks_exact(features));
    let mut state = input.start.as_slice().to_vec();
    for ((own, come), bias) in rounds {
        let mut sums = vec![0.0f32; nodes * features];
        for (&from, &to) in from.iter().zip(&to[..]) {
            let message = &state[from * features..][..features];
            let into = &mut sums[to * features..][..features];
            into.iter_mut().zip(message).for_each(|(s, m)| *s += m);
        }
        let mut next = vec![0.0f32; nodes * features];
        let old = state.par_chunks_exact(features).zip(sums.par_chunks_exact(features));
        let new = next.par_chunks_exact_mut(features);
        new.zip(old).with_min_len(256).for_each(|(next, (state, sums))| {
            for (f, next) in next.iter_mut().enumerate() {
                let own = dot(&own[f * features..][..features], state);
                let come = dot(&come[f * features..][..features], sums);
                *next = (own + come + bias[f]).max(0.0);
            }
        });
        state = next;
    }
    let readout = input.network.readout.as_slice();
    let scores = state.chunks_exact(features).map(|row| dot(readout, row));
    let terms = scores.zip(input.labels.as_slice()).map(|(score, label)| {
        score.max(0.0) + (-score.abs()).exp().ln_1p() - label * score
    });
    terms.sum::<f32>() / nodes as f32
}
