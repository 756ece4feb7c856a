//! Recurrent layers with gates whose weights are diagonal ("D-LSTM"), which predict the next
//! character of a text.

use std::path::Path;

use pointful::prelude::*;

use crate::noise::Noise;
use crate::read::{self, ReadError, Words};

/// A layer.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Layer(usize);

/// A bit of a character, and the unit that sees it.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Bit(usize);

/// A character of the text.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Time(usize);

/// What a gate has.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Affine {
    /// Its factor.
    Weight,
    /// What is added.
    Bias,
}

/// The gates of a unit.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Gate {
    /// How much of the cell is kept.
    Forget,
    /// How much comes in.
    In,
    /// How much goes out.
    Out,
    /// What comes in.
    Change,
}

/// The parameters before and after all layers.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Around {
    /// The factor of the input.
    InWeight,
    /// The factor of the output.
    OutWeight,
    /// What is added to the output.
    OutBias,
}

/// What a unit remembers.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Memory {
    /// What it gave last.
    Hidden,
    /// Its cell.
    Cell,
}

/// What is learned.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The layers' parameters.
    pub main: Table<(Layer, Affine, Gate, Bit), f64>,
    /// Those around them.
    pub extra: Table<(Around, Bit), f64>,
}

#[pointful]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean cross entropy of the predictions of all characters but the first, from `state` before
/// it.
#[pointful]
pub fn objective(
    network: &Network,
    state: &Table<(Layer, Memory, Bit), f64>,
    text: &Table<(Time, Bit), f64>,
) -> f64 {
    let mut hidden = for (l, b) in (Layer, Bit) {
        state[l][Memory::Hidden][b]
    };
    let mut cell = for (l, b) in (Layer, Bit) {
        state[l][Memory::Cell][b]
    };
    let mut total = 0.0;
    for t in 1..size(Time) {
        let mut signal = for b in Bit {
            text[t - 1][b] * network.extra[Around::InWeight][b]
        };
        for l in Layer {
            let gate = |g: Gate, b: Bit, x: f64| {
                network.main[l][Affine::Weight][g][b] * x + network.main[l][Affine::Bias][g][b]
            };
            cell[l] = for b in Bit {
                let change = gate(Gate::Change, b, hidden[l][b]).tanh();
                cell[l][b] * sigmoid(gate(Gate::Forget, b, signal[b]))
                    + sigmoid(gate(Gate::In, b, hidden[l][b])) * change
            };
            hidden[l] = for b in Bit {
                sigmoid(gate(Gate::Out, b, signal[b])) * cell[l][b].tanh()
            };
            signal = for b in Bit {
                hidden[l][b]
            };
        }
        let guess = for b in Bit {
            signal[b] * network.extra[Around::OutWeight][b] + network.extra[Around::OutBias][b]
        };
        // The suite adds 2 inside of the logarithm.
        let norm = (2.0
            + sum(for b in Bit {
                guess[b].exp()
            }))
        .ln();
        total += sum(for b in Bit {
            text[t][b] * (guess[b] - norm)
        });
    }
    -total / ((size(Time) - 1) * size(Bit)) as f64
}

/// What the objective takes.
#[derive(Clone, Debug)]
pub struct Input {
    /// The parameters.
    pub network: Network,
    /// The memory before the first character.
    pub state: Table<(Layer, Memory, Bit), f64>,
    /// The characters.
    pub text: Table<(Time, Bit), f64>,
}

impl Input {
    /// Of one of the suite's files.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = read::text(path)?;
        let mut words = Words::new(&text);
        let [l, c, b]: [usize; 3] = [words.next("l")?, words.next("c")?, words.next("b")?];
        let network = Network {
            main: words.table(Extent::try_new((l, (), (), b))?, "a layer's parameter")?,
            extra: words.table(Extent::try_new(((), b))?, "a parameter around the layers")?,
        };
        let state = words.table(Extent::try_new((l, (), b))?, "a state")?;
        let characters = words.table(Extent::try_new((c, b))?, "a bit")?;
        words.end()?;
        Ok(Input {
            network,
            state,
            text: characters,
        })
    }

    /// Of `l` layers, `c` characters, `b` bits.
    pub fn made(l: usize, c: usize, b: usize) -> Self {
        let mut noise = Noise::new(2);
        let full = "as many numbers as the table has elements";
        let main = Extent::<(Layer, Affine, Gate, Bit)>::new((l, (), (), b));
        let extra = Extent::<(Around, Bit)>::new(((), b));
        let state = Extent::<(Layer, Memory, Bit)>::new((l, (), b));
        let text = Extent::<(Time, Bit)>::new((c, b));
        let bits = (0..text.len()).map(|_| noise.unit().round()).collect();
        Input {
            network: Network {
                main: Table::from_vec(main, noise.vec(main.len())).expect(full),
                extra: Table::from_vec(extra, noise.vec(extra.len())).expect(full),
            },
            state: Table::from_vec(state, noise.vec(state.len())).expect(full),
            text: Table::from_vec(text, bits).expect(full),
        }
    }

    /// The mean cross entropy.
    pub fn objective(&self) -> f64 {
        objective(&self.network, &self.state, &self.text)
    }

    /// Its gradient by the network.
    pub fn gradient(&self) -> Network {
        grad!(objective, wrt = network)(&self.network, &self.state, &self.text)
    }
}

#[cfg(test)]
mod tests {
    use pointful_examples::differences;

    use super::*;
    use crate::data;

    /// The objective once more, as plain loops over the file's layout.
    fn by_hand(input: &Input) -> f64 {
        let ((c, b), l) = (input.text.extent().size(), input.state.extent().size().0);
        let (main, extra) = (
            input.network.main.as_slice(),
            input.network.extra.as_slice(),
        );
        let text = input.text.as_slice();
        let mut state = input.state.as_slice().to_vec();
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let mut total = 0.0;
        for t in 0..c - 1 {
            let mut signal: Vec<f64> = (0..b).map(|k| text[t * b + k] * extra[k]).collect();
            for layer in 0..l {
                let (weight, bias) = main[8 * b * layer..][..8 * b].split_at(4 * b);
                for k in 0..b {
                    let (hidden, cell) = (state[2 * b * layer + k], state[2 * b * layer + b + k]);
                    let gate = |g: usize, x: f64| x * weight[g * b + k] + bias[g * b + k];
                    let kept = cell * sigmoid(gate(0, signal[k]));
                    let next = kept + sigmoid(gate(1, hidden)) * gate(3, hidden).tanh();
                    let shown = sigmoid(gate(2, signal[k])) * next.tanh();
                    state[2 * b * layer + k] = shown;
                    state[2 * b * layer + b + k] = next;
                    signal[k] = shown;
                }
            }
            let guess: Vec<f64> = (0..b)
                .map(|k| signal[k] * extra[b + k] + extra[2 * b + k])
                .collect();
            let norm = (2.0 + guess.iter().map(|x| x.exp()).sum::<f64>()).ln();
            total += (0..b)
                .map(|k| text[(t + 1) * b + k] * (guess[k] - norm))
                .sum::<f64>();
        }
        -total / ((c - 1) * b) as f64
    }

    fn flat(network: &Network) -> Vec<f64> {
        [network.main.as_slice(), network.extra.as_slice()].concat()
    }

    fn holds(input: &Input) {
        let (value, expected) = (input.objective(), by_hand(input));
        assert!(
            (value / expected - 1.0).abs() < 1e-12,
            "{value}, by hand {expected}"
        );
        let mut moved = input.clone();
        let approximate = differences::gradient(&flat(&input.network), |at| {
            let (main, extra) = at.split_at(moved.network.main.len());
            moved.network.main.as_mut_slice().copy_from_slice(main);
            moved.network.extra.as_mut_slice().copy_from_slice(extra);
            by_hand(&moved)
        });
        differences::assert_close(&flat(&input.gradient()), &approximate, 1e-7);
    }

    #[test]
    fn gradients_by_differences() {
        for (l, c, b) in [(1, 2, 1), (1, 7, 3), (2, 2, 1), (3, 20, 4)] {
            holds(&Input::made(l, c, b));
        }
    }

    /// Too many parameters for differences by each: along the gradient the value changes by the
    /// gradient's squared length.
    #[test]
    fn the_suites_file() {
        let input = Input::read(&data("lstm_l2_c1024.txt")).expect("the data is shipped");
        let (value, expected) = (input.objective(), by_hand(&input));
        assert!(
            (value / expected - 1.0).abs() < 1e-12,
            "{value}, by hand {expected}"
        );
        let gradient = input.gradient();
        let slope: f64 = flat(&gradient).iter().map(|x| x * x).sum();
        let along = |step: f64| {
            let mut moved = input.clone();
            let (main, extra) = (&mut moved.network.main, &mut moved.network.extra);
            (main.iter_mut().zip(gradient.main.iter())).for_each(|(x, g)| *x += step * g);
            (extra.iter_mut().zip(gradient.extra.iter())).for_each(|(x, g)| *x += step * g);
            by_hand(&moved)
        };
        let step = 1e-5 / slope.sqrt();
        let found = (along(step) - along(-step)) / (2.0 * step);
        assert!((found / slope - 1.0).abs() < 1e-6, "{found} and {slope}");
    }
}
