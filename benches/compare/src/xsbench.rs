//! XSBench: macroscopic cross sections of materials at random energies, each found by bisection in
//! the tables of the material's nuclides.

use pointful::prelude::*;
use pointful_adbench::noise::Noise;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A nuclide.
#[derive(Clone, Copy, IndexSet)]
pub struct Nuclide(usize);

/// An entry of a nuclide's table, by energy.
#[derive(Clone, Copy, IndexSet)]
pub struct Entry(usize);

/// What may happen to a neutron.
#[pointful]
pub type Reaction = Fin<5>;

/// A nuclide in a material; those of a material are next to each other.
#[derive(Clone, Copy, IndexSet)]
pub struct Part(usize);

/// Where the parts of each material begin, then where the last end.
#[derive(Clone, Copy, IndexSet)]
pub struct Bound(usize);

/// A neutron that asks.
#[derive(Clone, Copy, IndexSet)]
pub struct Lookup(usize);

/// The macroscopic cross sections that each lookup finds.
#[pointful]
pub fn lookups(
    energies: &Table<(Nuclide, Entry), f64>,
    sections: &Table<(Nuclide, Entry, Reaction), f64>,
    bounds: &Table<Bound, usize>,
    nuclide: &Table<Part, Nuclide>,
    density: &Table<Part, f64>,
    material: &Table<Lookup, usize>,
    energy: &Table<Lookup, f64>,
) -> Table<(Lookup, Reaction), f64> {
    for l in Lookup {
        let m = material[l];
        let e = energy[l];
        sum(for p in bounds[m]..bounds[m + 1] {
            let n = nuclide[p];
            let mut low = 0;
            let mut high = size(Entry) - 1;
            while high - low > 1 {
                let middle = (low + high) / 2;
                if energies[n][middle] > e {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            let width = energies[n][low + 1] - energies[n][low];
            let share = (energies[n][low + 1] - e) / width;
            for r in Reaction {
                let (below, above) = (sections[n][low][r], sections[n][low + 1][r]);
                density[p] * (above - share * (above - below))
            }
        })
    }
}

/// The mean square of what is found.
#[pointful]
pub fn loss(
    energies: &Table<(Nuclide, Entry), f64>,
    sections: &Table<(Nuclide, Entry, Reaction), f64>,
    bounds: &Table<Bound, usize>,
    nuclide: &Table<Part, Nuclide>,
    density: &Table<Part, f64>,
    material: &Table<Lookup, usize>,
    energy: &Table<Lookup, f64>,
) -> f64 {
    let found = lookups(energies, sections, bounds, nuclide, density, material, energy);
    mean(for l in Lookup {
        sum(found[l] * found[l])
    })
}

/// Tables, materials and lookups, as slices.
struct Slices<'a> {
    entries: usize,
    energies: &'a [f64],
    sections: &'a [[f64; 5]],
    bounds: &'a [usize],
    nuclide: &'a [usize],
    density: &'a [f64],
    material: &'a [usize],
    energy: &'a [f64],
}

/// The same by lookups in parallel.
fn by_hand(s: &Slices<'_>) -> Vec<[f64; 5]> {
    s.material
        .par_iter()
        .zip(s.energy)
        .map(|(&m, &e)| {
            let mut found = [0.0; 5];
            for p in s.bounds[m]..s.bounds[m + 1] {
                let table = s.nuclide[p] * s.entries;
                let energies = &s.energies[table..][..s.entries];
                let (mut low, mut high) = (0, s.entries - 1);
                while high - low > 1 {
                    let middle = (low + high) / 2;
                    if energies[middle] > e {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                let share = (energies[low + 1] - e) / (energies[low + 1] - energies[low]);
                let (below, above) = (s.sections[table + low], s.sections[table + low + 1]);
                for r in 0..5 {
                    found[r] += s.density[p] * (above[r] - share * (above[r] - below[r]));
                }
            }
            found
        })
        .collect()
}


/// Which nuclides are in two materials: the parts of a few, whose number is odd.
const PARTS: [i32; 7] = [0, 3, 1, 4, 2, 1, 0];

/// Five nuclides with tables of eight, two materials, forty lookups.
pub(crate) fn small() -> Inputs {
    let tables = Extent::<(Dyn, Dyn)>::new((5, 8));
    let mut noise = Noise::new(1);
    let mut energies: Vec<f64> = (0..tables.len()).map(|_| noise.unit()).collect();
    for row in energies.chunks_mut(8) {
        row.sort_by(f64::total_cmp);
        (row[0], row[7]) = (0.0, 1.0);
    }
    let energies = Table::from_vec(tables, energies).expect("eight each");
    let lookups = Extent::<Dyn>::new(40);
    Inputs::made()
        .with("energies", &energies)
        .noise("sections", Extent::<(Dyn, Dyn, Dyn)>::new((5, 8, 5)), 2, |x| x)
        .with("bounds", &Table::<Dyn, i32>::from(vec![0, 2, 7]))
        .with("nuclide", &Table::<Dyn, i32>::from(PARTS.to_vec()))
        .noise("density", Extent::<Dyn>::new(PARTS.len()), 3, f64::abs)
        .noise("material", lookups, 4, |x| i32::from(x > 0.0))
        .noise("energy", lookups, 5, f64::abs)
}

struct Input {
    energies: Table<(Nuclide, Entry), f64>,
    sections: Table<(Nuclide, Entry, Reaction), f64>,
    bounds: Table<Bound, usize>,
    nuclide: Table<Part, Nuclide>,
    density: Table<Part, f64>,
    material: Table<Lookup, usize>,
    energy: Table<Lookup, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let energies: Table<(Nuclide, Entry), f64> = inputs.table("energies")?;
    let input = Rc::new(Input {
        sections: inputs.table("sections")?,
        bounds: inputs.numbers("bounds")?,
        nuclide: inputs.indices("nuclide", Extent::new(energies.extent().size().0))?,
        density: inputs.table("density")?,
        material: inputs.numbers("material")?,
        energy: inputs.table("energy")?,
        energies,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("run", &["found"], move || {
            lookups(
                &a.energies,
                &a.sections,
                &a.bounds,
                &a.nuclide,
                &a.density,
                &a.material,
                &a.energy,
            )
        }),
        Task::pointful("value", &["value"], move || {
            loss(
                &b.energies,
                &b.sections,
                &b.bounds,
                &b.nuclide,
                &b.density,
                &b.material,
                &b.energy,
            )
        }),
        Task::pointful("gradient", &["value", "sections", "density"], move || {
            let (value, (sections, density)) = value_and_grad!(loss, wrt = (sections, density))(
                &c.energies,
                &c.sections,
                &c.bounds,
                &c.nuclide,
                &c.density,
                &c.material,
                &c.energy,
            );
            (value, sections, density)
        }),
        Task::hand("run", &["found"], move || {
            by_hand(&Slices {
                entries: d.energies.extent().size().1,
                energies: d.energies.as_slice(),
                sections: d.sections.as_slice().as_chunks().0,
                bounds: d.bounds.as_slice(),
                nuclide: &d.nuclide.ordinals(),
                density: d.density.as_slice(),
                material: d.material.as_slice(),
                energy: d.energy.as_slice(),
            })
        }),
    ])
}
