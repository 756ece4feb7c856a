//! Constants whose types are not what the bodies take them for, each said where it is named.

use pointful::prelude::*;

#[derive(Clone, Copy, IndexSet)]
enum Channel {
    R,
    G,
}

#[derive(Clone, Copy, IndexSet)]
enum Side {
    Left,
    Right,
}

const HERE: Channel = Channel::R;
const THERE: Side = Side::Left;
const WEIGHTS: [f64; 3] = [1.0, 2.0, 3.0];
const WEIGHT: f64 = 1.0;
const STEPS: i32 = 3;
const PAIR: (f64, f64) = (1.0, 2.0);

// A member of another set.
#[pointful]
fn other_set(x: &Table<Channel, f64>) -> f64 {
    x[THERE]
}

// An array is no number.
#[pointful]
fn scaled<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    WEIGHTS * x
}

// A number is no array.
#[pointful]
fn total() -> f64 {
    sum(WEIGHT)
}

// A range up to what has a sign is one of `i64`.
#[pointful]
fn counted() -> f64 {
    let mut total = 0.0;
    for k in -STEPS..=STEPS {
        total += k as f64;
    }
    total
}

// Nothing says of which set it is a member.
#[pointful]
fn numbered() -> usize {
    HERE.ordinal()
}

// Nothing says what the variable is.
#[pointful]
fn parted(x: f64) -> f64 {
    let pair = PAIR;
    x * pair.0
}

mod elsewhere {
    use pointful::prelude::*;

    #[derive(Clone, Copy, IndexSet)]
    pub enum Gear {
        Low,
        High,
    }

    pub const TOP: Gear = Gear::High;

    #[pointful]
    pub fn numbered(g: Gear) -> usize {
        g.ordinal()
    }
}

// A member of a set that is not named here.
#[pointful]
fn top() -> usize {
    elsewhere::numbered(elsewhere::TOP)
}

fn main() {
    let _ = [Channel::G as usize, Side::Right as usize, elsewhere::Gear::Low as usize];
}
