//! RSBench: the cross sections of `xsbench` from poles instead of tables. A pole's resonance,
//! broadened by heat, is Faddeeva's function of how far the energy's root is from it.

use std::f64::consts::PI;

use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A nuclide.
#[derive(Clone, Copy, IndexSet)]
pub struct Nuclide(usize);

/// A part of the range of energies, of a nuclide.
#[derive(Clone, Copy, IndexSet)]
pub struct Window(usize);

/// A pole; those of a window are next to each other, so are the windows of a nuclide.
#[derive(Clone, Copy, IndexSet)]
pub struct Pole(usize);

/// Where the poles of each window of each nuclide begin, then where the last end; or the same of
/// parts and materials.
#[derive(Clone, Copy, IndexSet)]
pub struct Bound(usize);

/// A nuclide in a material; those of a material are next to each other.
#[derive(Clone, Copy, IndexSet)]
pub struct Part(usize);

/// A neutron that asks.
#[derive(Clone, Copy, IndexSet)]
pub struct Lookup(usize);

/// Where the parts of each material begin, then where the last end.
#[derive(Clone, Copy, IndexSet)]
pub struct Edge(usize);

/// All reactions, absorption, fission.
#[pointful]
pub type Reaction = Fin<3>;

/// Real and imaginary part.
#[pointful]
pub type Complex = Fin<2>;

/// The momentum that a neutron brings.
#[pointful]
pub type Momentum = Fin<4>;

/// How narrow resonances are at this temperature.
const WIDTH: f64 = 12.0;

#[pointful]
fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

#[pointful]
fn over(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let square = b.0 * b.0 + b.1 * b.1;
    (
        (a.0 * b.0 + a.1 * b.1) / square,
        (a.1 * b.0 - a.0 * b.1) / square,
    )
}

/// Faddeeva's function above the real axis: near 0 the Fourier series of Abrarov and Quine,
/// elsewhere a quadrature of four points.
#[pointful]
fn faddeeva(z: (f64, f64)) -> (f64, f64) {
    let square = times(z, z);
    if z.0 * z.0 + z.1 * z.1 < 36.0 {
        let size = (-12.0 * z.1).exp();
        let turn = (size * (12.0 * z.0).cos(), size * (12.0 * z.0).sin());
        let (first_re, first_im) = over((turn.1, 1.0 - turn.0), (12.0 * z.0, 12.0 * z.1));
        let (series_re, series_im) = sum(for k in 1..11 {
            let n = k as f64;
            let weight = PI.sqrt() / 6.0 * (-(n * PI / 12.0).powi(2)).exp();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let below = ((n * PI).powi(2) - 144.0 * square.0, -144.0 * square.1);
            let term = over((sign * turn.0 - 1.0, sign * turn.1), below);
            (weight * term.0, weight * term.1)
        });
        let (re, im) = times(z, (series_re, series_im));
        let scale = 144.0 / PI.sqrt();
        (first_re - scale * im, first_im + scale * re)
    } else {
        let (a, b) = (0.512_424_224_754_768_5, 0.275_255_128_608_410_95);
        let (c, d) = (0.051_765_358_792_987_82, 2.724_744_871_391_589);
        let near = over((a, 0.0), (square.0 - b, square.1));
        let far = over((c, 0.0), (square.0 - d, square.1));
        times((-z.1, z.0), (near.0 + far.0, near.1 + far.1))
    }
}

/// The turn of a wave that a nucleus of this size scatters.
#[pointful]
fn phase(radius: f64, root: f64, momentum: usize) -> (f64, f64) {
    let p = radius * root;
    let late = if momentum == 0 {
        0.0
    } else if momentum == 1 {
        p.atan()
    } else if momentum == 2 {
        (3.0 * p / (3.0 - p * p)).atan()
    } else {
        (p * (15.0 - p * p) / (15.0 - 6.0 * p * p)).atan()
    };
    let turn = 2.0 * (p - late);
    (turn.cos(), -turn.sin())
}

/// The macroscopic cross sections that each lookup finds.
#[pointful]
#[expect(clippy::too_many_arguments, reason = "poles, materials and lookups")]
pub fn lookups(
    poles: &Table<(Pole, Complex), f64>,
    residues: &Table<(Pole, Reaction, Complex), f64>,
    momentum: &Table<Pole, Momentum>,
    bounds: &Table<Bound, usize>,
    background: &Table<(Nuclide, Window, Reaction), f64>,
    radius: &Table<(Nuclide, Momentum), f64>,
    edges: &Table<Edge, usize>,
    nuclide: &Table<Part, Nuclide>,
    density: &Table<Part, f64>,
    material: &Table<Lookup, usize>,
    energy: &Table<Lookup, f64>,
) -> Table<(Lookup, Reaction), f64> {
    for l in Lookup {
        let m = material[l];
        let root = energy[l].sqrt();
        let w = (energy[l] * size(Window) as f64) as usize;
        let (total, absorbed, split) = sum(for p in edges[m]..edges[m + 1] {
            let n = nuclide[p];
            let turns = for j in Momentum {
                phase(radius[n][j], root, j.ordinal())
            };
            let first = n.ordinal() * size(Window) + w;
            let mut total = 0.0;
            let mut absorbed = 0.0;
            let mut split = 0.0;
            for k in bounds[first]..bounds[first + 1] {
                let shape = faddeeva((WIDTH * (root - poles[k][0]), -WIDTH * poles[k][1]));
                let turned = times(shape, turns[momentum[k]]);
                let r = residues[k];
                total += r[0][0] * turned.0 - r[0][1] * turned.1;
                absorbed += r[1][0] * shape.0 - r[1][1] * shape.1;
                split += r[2][0] * shape.0 - r[2][1] * shape.1;
            }
            let d = density[p];
            let rest = background[n][w];
            (
                d * (energy[l] * rest[0] + total),
                d * (energy[l] * rest[1] + absorbed),
                d * (energy[l] * rest[2] + split),
            )
        });
        [total, absorbed, split]
    }
}

/// The mean square of what is found.
#[pointful]
#[expect(clippy::too_many_arguments, reason = "poles, materials and lookups")]
pub fn loss(
    poles: &Table<(Pole, Complex), f64>,
    residues: &Table<(Pole, Reaction, Complex), f64>,
    momentum: &Table<Pole, Momentum>,
    bounds: &Table<Bound, usize>,
    background: &Table<(Nuclide, Window, Reaction), f64>,
    radius: &Table<(Nuclide, Momentum), f64>,
    edges: &Table<Edge, usize>,
    nuclide: &Table<Part, Nuclide>,
    density: &Table<Part, f64>,
    material: &Table<Lookup, usize>,
    energy: &Table<Lookup, f64>,
) -> f64 {
    let found = lookups(
        poles, residues, momentum, bounds, background, radius, edges, nuclide, density, material,
        energy,
    );
    mean(for l in Lookup {
        sum(found[l] * found[l])
    })
}

/// Four nuclides with three windows of up to four poles, two materials, thirty lookups.
pub(crate) fn small() -> Inputs {
    let mut noise = Noise::new(1);
    let mut bounds = vec![0i32];
    for window in 0..12 {
        bounds.push(bounds[window] + noise.below(5) as i32);
    }
    let count = bounds[12] as usize;
    let places = (0..2 * count).map(|k| {
        let x = noise.unit();
        if k % 2 == 0 { x } else { -0.02 - 0.08 * x }
    });
    let poles = Table::from_vec(Extent::<(Dyn, Dyn)>::new((count, 2)), places.collect());
    let lookups = Extent::<Dyn>::new(30);
    Inputs::made()
        .with("poles", &poles.expect("two each"))
        .noise("residues", Extent::<(Dyn, Dyn, Dyn)>::new((count, 3, 2)), 2, |x| x)
        .noise("momentum", Extent::<Dyn>::new(count), 3, |x| (2.0 + 2.0 * x) as i32)
        .with("bounds", &Table::<Dyn, i32>::from(bounds))
        .noise("background", Extent::<(Dyn, Dyn, Dyn)>::new((4, 3, 3)), 4, f64::abs)
        .noise("radius", Extent::<(Dyn, Dyn)>::new((4, 4)), 5, f64::abs)
        .with("edges", &Table::<Dyn, i32>::from(vec![0, 1, 5]))
        .with("nuclide", &Table::<Dyn, i32>::from(vec![2, 3, 0, 1, 2]))
        .noise("density", Extent::<Dyn>::new(5), 6, f64::abs)
        .noise("material", lookups, 7, |x| i32::from(x > 0.0))
        // None is so near to where one approximation ends that differences see the step to the other.
        .noise("energy", lookups, 9, f64::abs)
}

struct Input {
    poles: Table<(Pole, Complex), f64>,
    residues: Table<(Pole, Reaction, Complex), f64>,
    momentum: Table<Pole, Momentum>,
    bounds: Table<Bound, usize>,
    background: Table<(Nuclide, Window, Reaction), f64>,
    radius: Table<(Nuclide, Momentum), f64>,
    edges: Table<Edge, usize>,
    nuclide: Table<Part, Nuclide>,
    density: Table<Part, f64>,
    material: Table<Lookup, usize>,
    energy: Table<Lookup, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let radius: Table<(Nuclide, Momentum), f64> = inputs.table("radius")?;
    let input = Rc::new(Input {
        poles: inputs.table("poles")?,
        residues: inputs.table("residues")?,
        momentum: inputs.indices("momentum", Extent::default())?,
        bounds: inputs.numbers("bounds")?,
        background: inputs.table("background")?,
        edges: inputs.numbers("edges")?,
        nuclide: inputs.indices("nuclide", Extent::new(radius.extent().size().0))?,
        density: inputs.table("density")?,
        material: inputs.numbers("material")?,
        energy: inputs.table("energy")?,
        radius,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    let slopes = &["value", "poles", "residues", "background", "radius", "density"];
    Ok(vec![
        Task::pointful("run", &["found"], move || {
            lookups(
                &a.poles,
                &a.residues,
                &a.momentum,
                &a.bounds,
                &a.background,
                &a.radius,
                &a.edges,
                &a.nuclide,
                &a.density,
                &a.material,
                &a.energy,
            )
        }),
        Task::pointful("value", &["value"], move || {
            loss(
                &b.poles,
                &b.residues,
                &b.momentum,
                &b.bounds,
                &b.background,
                &b.radius,
                &b.edges,
                &b.nuclide,
                &b.density,
                &b.material,
                &b.energy,
            )
        }),
        Task::pointful("gradient", slopes, move || {
            let by = value_and_grad!(
                loss,
                wrt = (poles, residues, background, radius, density)
            )(
                &c.poles,
                &c.residues,
                &c.momentum,
                &c.bounds,
                &c.background,
                &c.radius,
                &c.edges,
                &c.nuclide,
                &c.density,
                &c.material,
                &c.energy,
            );
            let (value, (poles, residues, background, radius, density)) = by;
            (value, poles, residues, background, radius, density)
        }),
        Task::hand("run", &["found"], move || by_hand(&d)),
    ])
}

/// A complex number.
#[derive(Clone, Copy)]
struct C(f64, f64);

impl C {
    fn times(self, other: C) -> C {
        C(
            self.0 * other.0 - self.1 * other.1,
            self.0 * other.1 + self.1 * other.0,
        )
    }

    fn over(self, other: C) -> C {
        let square = other.0 * other.0 + other.1 * other.1;
        let C(re, im) = self.times(C(other.0, -other.1));
        C(re / square, im / square)
    }

    fn faddeeva(self) -> C {
        let square = self.times(self);
        if self.0 * self.0 + self.1 * self.1 >= 36.0 {
            let near = C(0.512_424_224_754_768_5, 0.0)
                .over(C(square.0 - 0.275_255_128_608_410_95, square.1));
            let far = C(0.051_765_358_792_987_82, 0.0)
                .over(C(square.0 - 2.724_744_871_391_589, square.1));
            return C(-self.1, self.0).times(C(near.0 + far.0, near.1 + far.1));
        }
        let size = (-12.0 * self.1).exp();
        let (sin, cos) = (12.0 * self.0).sin_cos();
        let turn = C(size * cos, size * sin);
        let first = C(turn.1, 1.0 - turn.0).over(C(12.0 * self.0, 12.0 * self.1));
        let mut series = C(0.0, 0.0);
        for k in 1..=10 {
            let n = f64::from(k);
            let weight = PI.sqrt() / 6.0 * (-(n * PI / 12.0).powi(2)).exp();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let below = C((n * PI).powi(2) - 144.0 * square.0, -144.0 * square.1);
            let term = C(sign * turn.0 - 1.0, sign * turn.1).over(below);
            series = C(series.0 + weight * term.0, series.1 + weight * term.1);
        }
        let C(re, im) = self.times(series);
        let scale = 144.0 / PI.sqrt();
        C(first.0 - scale * im, first.1 + scale * re)
    }
}

/// The same by lookups in parallel.
fn by_hand(input: &Input) -> Vec<[f64; 3]> {
    let windows = input.background.extent().size().1;
    let poles = input.poles.as_slice().as_chunks::<2>().0;
    let residues = input.residues.as_slice().as_chunks::<6>().0;
    let background = input.background.as_slice().as_chunks::<3>().0;
    let radius = input.radius.as_slice().as_chunks::<4>().0;
    let (momentum, nuclide) = (input.momentum.ordinals(), input.nuclide.ordinals());
    let (bounds, edges) = (input.bounds.as_slice(), input.edges.as_slice());
    let lookups = input.material.as_slice().par_iter();
    lookups
        .zip(input.energy.as_slice())
        .map(|(&m, &energy)| {
            let root = energy.sqrt();
            let w = (energy * windows as f64) as usize;
            let mut found = [0.0; 3];
            for p in edges[m]..edges[m + 1] {
                let n = nuclide[p];
                let mut turns = [C(0.0, 0.0); 4];
                for (j, turn) in turns.iter_mut().enumerate() {
                    let p = radius[n][j] * root;
                    let late = match j {
                        0 => 0.0,
                        1 => p.atan(),
                        2 => (3.0 * p / (3.0 - p * p)).atan(),
                        _ => (p * (15.0 - p * p) / (15.0 - 6.0 * p * p)).atan(),
                    };
                    let (sin, cos) = (2.0 * (p - late)).sin_cos();
                    *turn = C(cos, -sin);
                }
                let first = n * windows + w;
                let mut sections = background[first].map(|b| energy * b);
                for k in bounds[first]..bounds[first + 1] {
                    let z = C(WIDTH * (root - poles[k][0]), -WIDTH * poles[k][1]);
                    let shape = z.faddeeva();
                    let turned = shape.times(turns[momentum[k]]);
                    let r = residues[k];
                    sections[0] += r[0] * turned.0 - r[1] * turned.1;
                    sections[1] += r[2] * shape.0 - r[3] * shape.1;
                    sections[2] += r[4] * shape.0 - r[5] * shape.1;
                }
                for (found, section) in found.iter_mut().zip(sections) {
                    *found += input.density.as_slice()[p] * section;
                }
            }
            found
        })
        .collect()
}
