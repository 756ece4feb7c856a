//! How often each class occurs, and how much weight it has: accumulation at computed positions, in
//! parallel.

use pointful::prelude::*;

/// An observation.
#[derive(Clone, Copy, IndexSet)]
pub struct Observation(usize);

/// The number and the total weight of the observations in each class.
#[pointful]
pub fn histogram<N: IndexSet, K: IndexSet>(
    class: &Table<N, K>,
    weight: &Table<N, f64>,
) -> (Table<K, u32>, Table<K, f64>) {
    let mut count = Accum::zero();
    let mut total = Accum::zero();
    for n in N {
        count[class[n]] += 1;
        total[class[n]] += weight[n];
    }
    (count.get(), total.get())
}

fn observations(n: usize) -> (Table<Observation, Fin<4>>, Table<Observation, f64>) {
    let extent = Extent::<Observation>::new(n);
    let classes = (0..n).map(|k| (k * k) % 4).collect();
    let class =
        Table::from_indices(extent, Extent::new(()), classes).expect("every class is below 4");
    (
        class,
        Table::from_fn(extent, |n| n.ordinal(extent) as f64 / 2.0),
    )
}

fn main() {
    let (class, weight) = observations(1000);
    let (count, total) = histogram(&class, &weight);
    println!("count {count}\ntotal {total}");
}

#[test]
fn counts() {
    for n in [0, 1, 5, 100_000] {
        let (class, weight) = observations(n);
        let (count, total) = histogram(&class, &weight);
        let mut expected = [0u32; 4];
        let mut weights = [0.0; 4];
        for k in 0..n {
            expected[(k * k) % 4] += 1;
            weights[(k * k) % 4] += k as f64 / 2.0;
        }
        assert_eq!(count.as_slice(), expected);
        assert_eq!(total.as_slice(), weights);
    }
}
