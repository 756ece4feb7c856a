//! A small convolutional network on a batch of images: two convolutions, a pooling and a dense
//! layer; mean cross entropy of its guesses.

use std::sync::Arc;

use pointful::lib::logsumexp;
use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// An image of the batch.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// A row of an image.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of an image.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// Two rows, after pooling.
#[derive(Clone, Copy, IndexSet)]
pub struct HalfRow(usize);

/// Two columns.
#[derive(Clone, Copy, IndexSet)]
pub struct HalfColumn(usize);

/// A filter of the first convolution.
#[derive(Clone, Copy, IndexSet)]
pub struct First(usize);

/// One of the second.
#[derive(Clone, Copy, IndexSet)]
pub struct Second(usize);

/// What an image may show.
#[derive(Clone, Copy, IndexSet)]
pub struct Class(usize);

/// A pixel's place among a filter's three in a row or column.
type Tap = Fin<3>;

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The first convolution.
    pub w1: Table<(First, Fin<3>, Fin<3>), f32>,
    /// How its filters incline.
    pub b1: Table<First, f32>,
    /// The second convolution, of what all filters of the first have seen.
    pub w2: Table<(Second, First, Fin<3>, Fin<3>), f32>,
    /// How its filters incline.
    pub b2: Table<Second, f32>,
    /// To the classes.
    pub w3: Table<(Class, Second, HalfRow, HalfColumn), f32>,
    /// How likely classes are before anything is seen.
    pub b3: Table<Class, f32>,
}

/// The loss on a batch. Around an image there is nothing but zeros.
#[pointful]
pub fn loss(
    network: &Network,
    images: &Table<(Sample, Row, Column), f32>,
    labels: &Table<Sample, Class>,
) -> f32 {
    mean(for n in Sample {
        let first = for (f, r, c) in (First, Row, Column) {
            let seen = sum(for (i, j) in (Fin::<3>, Fin::<3>) {
                let pixel = images[n].get((r + i.ordinal() - 1, c + j.ordinal() - 1));
                network.w1[f][i][j] * pixel.unwrap_or(0.0)
            });
            (network.b1[f] + seen).max(0.0)
        };
        let second = for (s, r, c) in (Second, Row, Column) {
            let seen = sum(for (f, i, j) in (First, Fin::<3>, Fin::<3>) {
                let pixel = first[f].get((r + i.ordinal() - 1, c + j.ordinal() - 1));
                network.w2[s][f][i][j] * pixel.unwrap_or(0.0)
            });
            (network.b2[s] + seen).max(0.0)
        };
        let pooled = for (s, r, c) in (Second, HalfRow, HalfColumn) {
            max(for (i, j) in (Fin::<2>, Fin::<2>) {
                second[s][2 * r.ordinal() + i.ordinal()][2 * c.ordinal() + j.ordinal()]
            })
        };
        let votes = for k in Class {
            network.b3[k]
                + sum(for (s, r, c) in (Second, HalfRow, HalfColumn) {
                    network.w3[k][s][r][c] * pooled[s][r][c]
                })
        };
        logsumexp(&votes) - votes[labels[n]]
    })
}

/// Three images of four by six pixels, two and three filters, three classes.
pub(crate) fn small() -> Inputs {
    let (n, h, w, f, s, k) = (3, 4, 6, 2, 3, 3);
    let filters = |count| Extent::<(Dyn, Tap, Tap)>::new((count, (), ()));
    let labels = Table::<Dyn, i32>::from(vec![0, 2, 1]);
    Inputs::made()
        .noise("w1", filters(f), 1, single)
        .noise("b1", Extent::<Dyn>::new(f), 2, single)
        .noise("w2", Extent::<(Dyn, Dyn, Tap, Tap)>::new((s, f, (), ())), 3, single)
        .noise("b2", Extent::<Dyn>::new(s), 4, single)
        .noise("w3", Extent::<(Dyn, Dyn, Dyn, Dyn)>::new((k, s, h / 2, w / 2)), 5, single)
        .noise("b3", Extent::<Dyn>::new(k), 6, single)
        .noise("images", Extent::<(Dyn, Dyn, Dyn)>::new((n, h, w)), 7, single)
        .with("labels", &labels)
}

fn single(x: f64) -> f32 {
    x as f32
}

struct Input {
    network: Network,
    images: Table<(Sample, Row, Column), f32>,
    labels: Table<Sample, Class>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let b3: Table<Class, f32> = inputs.table("b3")?;
    let input = Arc::new(Input {
        images: inputs.table("images")?,
        labels: inputs.indices("labels", b3.extent())?,
        network: Network {
            w1: inputs.table("w1")?,
            b1: inputs.table("b1")?,
            w2: inputs.table("w2")?,
            b2: inputs.table("b2")?,
            w3: inputs.table("w3")?,
            b3,
        },
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            loss(&a.network, &a.images, &a.labels)
        }),
        Task::pointful(
            "gradient",
            &["value", "w1", "b1", "w2", "b2", "w3", "b3"],
            move || {
                let slope = value_and_grad!(loss, wrt = network);
                let (value, s) = slope(&b.network, &b.images, &b.labels);
                (value, s.w1, s.b1, s.w2, s.b2, s.w3, s.b3)
            },
        ),
        Task::hand("value", &["value"], move || by_hand(&c)),
    ])
}

/// What filters see of pictures that lie one after the other, where it is more than nothing.
fn convolved(weights: &[f32], bias: &[f32], given: &[f32], height: usize, width: usize) -> Vec<f32> {
    let pictures = given.len() / (height * width);
    let mut seen = Vec::with_capacity(bias.len() * height * width);
    for (filter, bias) in weights.chunks_exact(9 * pictures).zip(bias) {
        let start = seen.len();
        seen.resize(start + height * width, *bias);
        let seen = &mut seen[start..];
        for (tap, weight) in filter.iter().enumerate() {
            let (picture, i, j) = (tap / 9, tap / 3 % 3, tap % 3);
            let picture = &given[picture * height * width..][..height * width];
            // Of the rows and columns those that have a neighbour there.
            for row in 1usize.saturating_sub(i)..height.min(height + 1 - i) {
                let columns = 1usize.saturating_sub(j)..width.min(width + 1 - j);
                let from = &picture[(row + i - 1) * width..][columns.start + j - 1..];
                let into = &mut seen[row * width..][columns];
                into.iter_mut().zip(from).for_each(|(s, x)| *s += weight * x);
            }
        }
    }
    seen.iter_mut().for_each(|x| *x = x.max(0.0));
    seen
}

fn by_hand(input: &Input) -> f32 {
    let net = &input.network;
    let (_, height, width) = input.images.extent().size();
    let labels = input.labels.ordinals();
    let images = input.images.as_slice().par_chunks(height * width);
    let total: f32 = images
        .zip(&labels[..])
        .map(|(image, label)| {
            let layer = |w: &[f32], b: &[f32], x: &[f32]| convolved(w, b, x, height, width);
            let first = layer(net.w1.as_slice(), net.b1.as_slice(), image);
            let second = layer(net.w2.as_slice(), net.b2.as_slice(), &first);
            let mut pooled = Vec::with_capacity(second.len() / 4);
            for two in second.chunks_exact(2 * width) {
                let (upper, lower) = two.split_at(width);
                for (a, b) in upper.chunks_exact(2).zip(lower.chunks_exact(2)) {
                    pooled.push(a[0].max(a[1]).max(b[0]).max(b[1]));
                }
            }
            let rows = net.w3.as_slice().chunks_exact(pooled.len());
            let votes: Vec<f32> = rows
                .zip(net.b3.as_slice())
                .map(|(row, b)| b + row.iter().zip(&pooled).map(|(w, x)| w * x).sum::<f32>())
                .collect();
            let top = votes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all = votes.iter().map(|v| (v - top).exp()).sum::<f32>().ln();
            top + all - votes[*label]
        })
        .sum();
    total / input.labels.len() as f32
}
