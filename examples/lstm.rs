//! Learns a rhyme by heart and recites it: a network with a long short-term memory that is shown
//! the rhyme letter by letter and guesses each time which letter comes next. The memory goes around
//! a loop over the letters; the gradient goes back through that loop. Prints what the network
//! recites, given the first letter and then its own guesses, and draws the logarithm of its error
//! to `target/pictures/lstm.png`.

use pointful::lib::logsumexp;
use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{figure, picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// One of the letters that occur, blanks and commas among them.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Letter(usize);

/// A place in the rhyme.
#[derive(Clone, Copy, IndexSet)]
pub struct Place(usize);

/// A memory cell, and what is seen of it.
#[derive(Clone, Copy, IndexSet)]
pub struct Cell(usize);

/// What is decided about a memory cell at every letter.
#[derive(Clone, Copy, IndexSet)]
pub enum Gate {
    /// How much of it is kept.
    Keep,
    /// How much is written to it.
    Write,
    /// What is written.
    Content,
    /// How much of it is shown.
    Show,
}

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How a letter acts on a gate.
    pub input: Table<(Letter, Gate, Cell), f64>,
    /// How what is seen of the memory, the last index, acts on a gate.
    pub feedback: Table<(Gate, Cell, Cell), f64>,
    /// How a gate inclines.
    pub bias: Table<(Gate, Cell), f64>,
    /// How what is seen of the memory speaks for a letter.
    pub output: Table<(Letter, Cell), f64>,
}

/// Between 0 and 1.
#[pointful]
fn open(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The memory after a letter, and what is seen of it.
#[pointful]
fn read(
    network: &Network,
    letter: Letter,
    memory: &Table<Cell, f64>,
    seen: &Table<Cell, f64>,
) -> (Table<Cell, f64>, Table<Cell, f64>) {
    let gates = for (g, c) in (Gate, Cell) {
        let back = sum(for other in Cell {
            network.feedback[g][c][other] * seen[other]
        });
        network.bias[g][c] + network.input[letter][g][c] + back
    };
    let memory = for c in Cell {
        let kept = open(gates[Gate::Keep][c]) * memory[c];
        kept + open(gates[Gate::Write][c]) * gates[Gate::Content][c].tanh()
    };
    let seen = for c in Cell {
        open(gates[Gate::Show][c]) * memory[c].tanh()
    };
    (memory, seen)
}

/// How much speaks for each letter to be the next.
#[pointful]
fn votes(network: &Network, seen: &Table<Cell, f64>) -> Table<Letter, f64> {
    for l in Letter {
        sum(for c in Cell {
            network.output[l][c] * seen[c]
        })
    }
}

/// How unlikely the network takes each letter to be, given those before: the mean of the
/// logarithms, negative.
#[pointful]
pub fn surprise(network: &Network, rhyme: &Table<Place, Letter>) -> f64 {
    let mut memory = for _c in Cell {
        0.0
    };
    let mut seen = for _c in Cell {
        0.0
    };
    let mut total = 0.0;
    for p in Place.skip(1) {
        (memory, seen) = read(network, rhyme[p - 1], &memory, &seen);
        let votes = votes(network, &seen);
        total += logsumexp(&votes) - votes[rhyme[p]];
    }
    total / (size(Place) - 1) as f64
}

/// The rhyme that begins with a letter and goes on as the network guesses, as long as `places`.
#[pointful]
pub fn recite(network: &Network, first: Letter, places: Extent<Place>) -> Table<Place, Letter> {
    let mut memory = for _c in Cell {
        0.0
    };
    let mut seen = for _c in Cell {
        0.0
    };
    let mut letter = first;
    for _p in places {
        let said = letter;
        (memory, seen) = read(network, letter, &memory, &seen);
        letter = argmax(votes(network, &seen));
        said
    }
}

impl Network {
    /// A network that knows nothing, but does not forget either.
    fn new(letters: usize, cells: usize, random: &mut StdRng) -> Self {
        let reach = 1.0 / (cells as f64).sqrt();
        let mut any = || random.random_range(-reach..reach);
        Network {
            input: Table::from_fn(Extent::new((letters, (), cells)), |_| any()),
            feedback: Table::from_fn(Extent::new(((), cells, cells)), |_| any()),
            bias: Table::from_fn(Extent::new(((), cells)), |(gate, _)| match gate {
                Gate::Keep => 1.0,
                Gate::Write | Gate::Content | Gate::Show => 0.0,
            }),
            output: Table::from_fn(Extent::new((letters, cells)), |_| any()),
        }
    }
}

/// The letters of a text, each once, and the text as a table of them.
fn letters(text: &str) -> (Vec<char>, Table<Place, Letter>) {
    let mut alphabet: Vec<char> = text.chars().collect();
    alphabet.sort_unstable();
    alphabet.dedup();
    let letters = Extent::<Letter>::new(alphabet.len());
    let number = |c| alphabet.binary_search(&c).expect("it is in the alphabet");
    let ordinals: Vec<usize> = text.chars().map(number).collect();
    let places = Extent::<Place>::new(ordinals.len());
    let rhyme = Table::from_indices(places, letters, ordinals).expect("all are letters");
    (alphabet, rhyme)
}

/// Follows the gradient until the error is below `goal`, for at most `steps` steps; the error
/// before each is told to `report`.
fn learn(
    network: &mut Network,
    rhyme: &Table<Place, Letter>,
    goal: f64,
    steps: usize,
    mut report: impl FnMut(f64),
) {
    let mut adam = Adam::new(0.02, network).epsilon(1e-12);
    for _ in 0..steps {
        let (error, slope) = value_and_grad!(surprise, wrt = network)(network, rhyme);
        report(error);
        if error < goal {
            break;
        }
        adam.step(network, &slope);
    }
}

/// Says `places` letters from the first letter of the rhyme on.
fn said(network: &Network, rhyme: &Table<Place, Letter>, alphabet: &[char]) -> String {
    let first = Letter::from_ordinal(rhyme.ordinals()[0], Extent::new(alphabet.len()));
    let recited = recite(network, first, rhyme.extent());
    recited.ordinals().iter().map(|&l| alphabet[l]).collect()
}

const RHYME: &str =
    "a fox in a box met an ox on the rocks, and the ox, in his socks, led the fox to the docks.";

fn main() {
    let (alphabet, rhyme) = letters(RHYME);
    let mut network = Network::new(alphabet.len(), 24, &mut StdRng::seed_from_u64(1));
    let steps = 1000;
    let bar = progress::bar("reading", steps);
    let mut errors = Vec::new();
    learn(&mut network, &rhyme, 0.01, steps, |error| {
        bar.set_message(format!("error {error:.4}"));
        bar.inc(1);
        errors.push((errors.len() as f64, error.log10()));
    });
    bar.abandon();
    println!(
        "read {} times; recites:\n{}",
        errors.len(),
        said(&network, &rhyme, &alphabet)
    );
    let path = picture("lstm.png");
    let title = "A network learns a rhyme";
    let chart = figure::Chart::new(title, "readings", "error in nats per letter, log₁₀").line(
        "",
        figure::BLUE,
        errors,
    );
    figure::charts(&path, 1, &[chart]).expect("the picture can be written");
    println!("{}", path.display());
}

#[test]
fn recites_what_it_has_read() {
    // The letter after an a depends on what came before it.
    let text = "abacadabacad";
    let (alphabet, rhyme) = letters(text);
    let mut network = Network::new(alphabet.len(), 6, &mut StdRng::seed_from_u64(2));
    let mut errors = Vec::new();
    learn(&mut network, &rhyme, 0.05, 1000, |error| errors.push(error));
    assert!((errors[0] - 4f64.ln()).abs() < 0.3, "{errors:?}");
    assert!(errors[errors.len() - 1] < 0.05, "{errors:?}");
    assert_eq!(said(&network, &rhyme, &alphabet), text);
}

#[test]
fn the_gradient_is_that_of_differences() {
    for (text, cells) in [("ab", 1), ("hello, hello", 3), ("aab", 2)] {
        let (alphabet, rhyme) = letters(text);
        let network = Network::new(alphabet.len(), cells, &mut StdRng::seed_from_u64(3));
        let slope = grad!(surprise, wrt = network)(&network, &rhyme);
        let by_differences = differences::gradient(&network.flatten(), |x| {
            let network = network.unflatten(x).expect("as many numbers");
            surprise(&network, &rhyme)
        });
        differences::assert_close(&slope.flatten(), &by_differences, 1e-7);
    }
}
