//! What all random functions written twice take: tables over `N` and `M`, places in them, lengths,
//! and a number of steps.

#[cfg(feature = "device")]
use pointful_runtime::{Device, Error, ToDevice};
use pointful_runtime::{Dyn, Extent, IndexSet, Table};

use crate::num::{Dual, Num, shaken};

/// Parameters as plain vectors.
#[derive(Clone, Debug)]
pub struct Inputs<T> {
    pub n: usize,
    pub m: usize,
    /// Over `N`, over `M`, over both.
    pub x: Vec<T>,
    pub y: Vec<T>,
    pub a: Vec<T>,
    pub c: T,
    /// For each of `N` one of `M`, for each of `M` one of `N`, for each of `N` one of `N`.
    pub at: Vec<usize>,
    pub to: Vec<usize>,
    pub nx: Vec<usize>,
    /// For each of `N` a length up to that of `M`.
    pub ends: Vec<usize>,
    pub steps: usize,
}

/// Numbers that the same seed gives again.
#[derive(Clone, Debug)]
pub struct Draw(pub u64);

impl Draw {
    pub fn bits(&mut self) -> u64 {
        // The generator of splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// Between -1 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn units(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.unit()).collect()
    }
}

impl Inputs<f64> {
    /// Random ones of these sizes, which are not 0.
    pub fn random(n: usize, m: usize, seed: u64) -> Self {
        let mut draw = Draw(seed);
        let mut places = |len: usize, below: usize| -> Vec<usize> {
            // Many go to few places, some in order, some anywhere.
            let kind = draw.below(3);
            (0..len)
                .map(|k| match kind {
                    0 => draw.below(below.min(2)),
                    1 => (k * 3 + 1) % below,
                    _ => draw.below(below),
                })
                .collect()
        };
        let (at, to, nx, ends) = (places(n, m), places(m, n), places(n, n), places(n, m + 1));
        let steps = draw.below(5);
        Self {
            n,
            m,
            x: draw.units(n),
            y: draw.units(m),
            a: draw.units(n * m),
            c: draw.unit(),
            at,
            to,
            nx,
            ends,
            steps,
        }
    }

    /// A direction: floats alone are of interest.
    pub fn direction(&self, seed: u64) -> Self {
        let mut draw = Draw(seed);
        Self {
            x: draw.units(self.n),
            y: draw.units(self.m),
            a: draw.units(self.n * self.m),
            c: draw.unit(),
            ..self.clone()
        }
    }

    /// The direction of one of the floats.
    pub fn axis(&self, which: usize) -> Self {
        let mut zero = self.map(|_| 0.0);
        let (n, m) = (self.n, self.m);
        match which % (n + m + n * m + 1) {
            k if k < n => zero.x[k] = 1.0,
            k if k < n + m => zero.y[k - n] = 1.0,
            k if k < n + m + n * m => zero.a[k - n - m] = 1.0,
            _ => zero.c = 1.0,
        }
        zero
    }

    /// In the direction's part of `x` alone, or of `y`.
    pub fn only(mut self, x: bool) -> Self {
        let other = if x { &mut self.y } else { &mut self.x };
        other.fill(0.0);
        self.a.fill(0.0);
        self.c = 0.0;
        self
    }

    /// Inputs moved by next to nothing, which shows how much rounding may matter.
    pub fn shaken(&self, seed: u64) -> Self {
        let mut draw = Draw(seed);
        self.map(|x| shaken(x, &mut draw))
    }

    pub fn floats(&self) -> Vec<f64> {
        [&self.x[..], &self.y, &self.a, &[self.c]].concat()
    }
}

impl<T: Num> Inputs<T> {
    pub fn map<U>(&self, mut f: impl FnMut(T) -> U) -> Inputs<U> {
        Inputs {
            n: self.n,
            m: self.m,
            x: self.x.iter().map(|&x| f(x)).collect(),
            y: self.y.iter().map(|&x| f(x)).collect(),
            a: self.a.iter().map(|&x| f(x)).collect(),
            c: f(self.c),
            at: self.at.clone(),
            to: self.to.clone(),
            nx: self.nx.clone(),
            ends: self.ends.clone(),
            steps: self.steps,
        }
    }

    /// Dual numbers along a direction.
    pub fn along(&self, direction: &Inputs<f64>) -> Inputs<Dual<T>> {
        let tangents = direction.floats();
        let mut tangents = tangents.iter();
        self.map(|value| Dual {
            value,
            tangent: T::c(*tangents.next().expect("as many as there are")),
        })
    }
}

/// The same as tables.
#[derive(Clone, Debug)]
pub struct Tables {
    pub x: Table<Dyn, f64>,
    pub y: Table<Dyn, f64>,
    pub a: Table<(Dyn, Dyn), f64>,
    pub c: f64,
    pub at: Table<Dyn, Dyn>,
    pub to: Table<Dyn, Dyn>,
    pub nx: Table<Dyn, Dyn>,
    pub ends: Table<Dyn, usize>,
    pub steps: usize,
}

impl Tables {
    pub fn of(inputs: &Inputs<f64>) -> Self {
        let (n, m) = (Extent::<Dyn>::new(inputs.n), Extent::<Dyn>::new(inputs.m));
        let places = |from, to, places: &[usize]| {
            Table::from_indices(from, to, places.to_vec()).expect("they are in range")
        };
        Self {
            x: Table::from(inputs.x.clone()),
            y: Table::from(inputs.y.clone()),
            a: matrix(inputs.n, inputs.m, inputs.a.clone()),
            c: inputs.c,
            at: places(n, m, &inputs.at),
            to: places(m, n, &inputs.to),
            nx: places(n, n, &inputs.nx),
            ends: Table::from(inputs.ends.clone()),
            steps: inputs.steps,
        }
    }
}

pub fn matrix(rows: usize, columns: usize, values: Vec<f64>) -> Table<(Dyn, Dyn), f64> {
    Table::from_vec(Extent::new((rows, columns)), values).expect("as many values")
}

#[cfg(feature = "device")]
impl ToDevice for Tables {
    fn moved(&self, to: Option<&Device>) -> Result<Self, Error> {
        Ok(Self {
            x: self.x.moved(to)?,
            y: self.y.moved(to)?,
            a: self.a.moved(to)?,
            c: self.c,
            at: self.at.moved(to)?,
            to: self.to.moved(to)?,
            nx: self.nx.moved(to)?,
            ends: self.ends.moved(to)?,
            steps: self.steps,
        })
    }
}

/// A copy on the device,
#[cfg(feature = "device")]
pub fn there<T: ToDevice>(value: &T) -> T {
    let moved = value.to_device(&Device::emulated());
    moved.expect("there is memory")
}

/// or on the host.
pub fn here<T: Clone>(value: &T) -> T {
    value.clone()
}

/// A result as numbers.
pub trait Flat {
    fn flat(&self) -> Vec<f64>;
}

impl Flat for f64 {
    fn flat(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl<I: IndexSet> Flat for Table<I, f64> {
    fn flat(&self) -> Vec<f64> {
        #[cfg(feature = "device")]
        if self.device().is_some() {
            return self.to_host().expect("moved back").flat();
        }
        self.as_slice().to_vec()
    }
}
