//! Tables of members of products: stored by number, valid when they are made, taken apart where
//! they are read.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::prelude::*;

fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run))
        .err()
        .expect("it must panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

type Pairs = Table<Dyn, (Dyn, Dyn)>;

fn pairs(n: usize, k: usize, m: usize) -> Pairs {
    let ordinals = (0..n).map(|at| (at * 7 + 3) % (k * m)).collect();
    Pairs::from_indices(Extent::new(n), Extent::new((k, m)), ordinals).unwrap()
}

#[pointful]
fn looked_up<N: IndexSet, K: IndexSet, M: IndexSet>(
    t: &Table<N, (K, M)>,
    x: &Table<(K, M), f64>,
    at: &Table<N, N>,
) -> (f64, Table<N, (K, M)>) {
    let total = sum(for n in N {
        let (k, m) = t[at[n]];
        x[k][m] * (1 + m.ordinal()) as f64
    });
    (
        total,
        for n in N {
            t[at[n]]
        },
    )
}

#[pointful]
fn total<N: IndexSet, K: IndexSet, M: IndexSet>(
    t: &Table<N, (K, M)>,
    x: &Table<(K, M), f64>,
) -> f64 {
    sum(for n in N {
        x[t[n]].sin()
    })
}

#[test]
fn pairs_index_matrices() {
    for (n, k, m) in [(0, 1, 1), (1, 1, 1), (2, 1, 7), (7, 2, 2), (1000, 40, 30)] {
        let t = pairs(n, k, m);
        let x: Table<(Dyn, Dyn), f64> =
            Table::from_fn(Extent::new((k, m)), |(Dyn(i), Dyn(j))| (i * 100 + j) as f64);
        let at = Table::<Dyn, Dyn>::from_indices(
            Extent::new(n),
            Extent::new(n),
            (0..n).map(|at| (at * 13 + 5) % n).collect(),
        )
        .unwrap();
        let number = |at: usize| t.ordinals()[(at * 13 + 5) % n];
        let expected: f64 = (0..n)
            .map(|at| x.as_slice()[number(at)] * (1 + number(at) % m) as f64)
            .sum();
        let (found, moved) = looked_up(&t, &x, &at);
        assert!((found - expected).abs() <= 1e-12 * expected.abs());
        assert_eq!(
            moved.ordinals().to_vec(),
            (0..n).map(number).collect::<Vec<_>>()
        );
        assert_eq!(moved.target(), t.target());
        let slope = grad!(total)(&t, &x);
        let mut counts = vec![0.0; k * m];
        t.ordinals().iter().for_each(|&at| counts[at] += 1.0);
        for ((slope, count), x) in slope.iter().zip(&counts).zip(x.iter()) {
            assert!((slope - count * x.cos()).abs() < 1e-9);
        }
    }
}

#[test]
fn extents_of_parts_are_checked_at_entry() {
    let (t, x) = (
        pairs(3, 4, 5),
        Table::<(Dyn, Dyn), f64>::zeros(Extent::new((5, 4))),
    );
    assert_eq!(
        panic_of(|| total(&t, &x)),
        "`total`: parameters `t` and `x` disagree on the size of `K`: 4 in `t`, 5 in `x`"
    );
}

#[pointful]
fn smallest<N: IndexSet, K: IndexSet, M: IndexSet>(x: &Table<(N, K, M), f64>) -> Table<N, (K, M)> {
    for n in N {
        argmin(for (k, m) in _ {
            x[n][k][m]
        })
    }
}

#[test]
fn extrema_of_matrices_are_pairs() {
    let x: Table<(Dyn, Fin<3>, Dyn), f64> =
        Table::from_fn(Extent::new((4, (), 5)), |(Dyn(n), k, Dyn(m))| {
            ((n * 31 + k.ordinal(Extent::default()) * 7 + m * 11) % 15) as f64
        });
    let found = smallest(&x);
    for n in 0..4 {
        let row = &x.as_slice()[n * 15..(n + 1) * 15];
        let lowest = row.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = row.iter().position(|x| *x == lowest).unwrap();
        assert_eq!(found.ordinals()[n], expected);
    }
}

#[derive(IndexSet, Clone, Copy, PartialEq, Debug)]
struct Row(usize);

#[derive(IndexSet, Clone, Copy, PartialEq, Debug)]
struct Cell {
    row: Row,
    up: bool,
}

#[pointful]
fn flipped<N: IndexSet>(
    t: &Table<N, Cell>,
    mut u: Table<N, Cell>,
    v: &mut Table<N, Cell>,
    first: N,
    x: &Table<Cell, f64>,
) -> (Cell, Table<N, Cell>, Table<N, Cell>, f64) {
    u[first] = t[first];
    v[first] = Cell {
        up: false,
        ..u[first]
    };
    let turned = for n in N {
        let c = t[n];
        Cell { up: !c.up, ..c }
    };
    (
        t[first],
        turned,
        u,
        sum(for n in N {
            x[t[n]] + t[n].row.ordinal() as f64
        }),
    )
}

#[test]
fn cells_are_taken_apart_and_put_together() {
    let (n, rows) = (7, 5);
    let cells = Extent::<Cell>::new((rows, ()));
    let table = |step: usize| {
        let ordinals = (0..n).map(|at| (at * step + 1) % (2 * rows)).collect();
        Table::<Dyn, Cell>::from_indices(Extent::new(n), cells, ordinals).unwrap()
    };
    let (t, u, mut v) = (table(3), table(5), table(7));
    let x = Table::<Cell, f64>::from_fn(cells, |cell| 10.0 * cell.ordinal(cells) as f64);
    let expected_u: Vec<usize> = (0..n)
        .map(|at| if at == 2 { 7 } else { (at * 5 + 1) % 10 })
        .collect();
    let (cell, turned, u, total) = flipped(&t, u, &mut v, Dyn(2), &x);
    assert_eq!(
        cell,
        Cell {
            row: Row(3),
            up: true
        }
    );
    let numbers = t.ordinals().to_vec();
    assert_eq!(
        turned.ordinals().to_vec(),
        numbers.iter().map(|k| k ^ 1).collect::<Vec<_>>()
    );
    assert_eq!(u.ordinals().to_vec(), expected_u);
    assert_eq!(v.ordinals()[2], 6);
    let expected: usize = numbers.iter().map(|k| 10 * k + k / 2).sum();
    assert_eq!(total, expected as f64);
}

#[pointful]
struct Mesh<N: IndexSet, K: IndexSet> {
    ends: Table<N, (K, K)>,
    length: Table<N, f64>,
}

#[pointful]
fn energy<N: IndexSet, K: IndexSet>(mesh: &Mesh<N, K>, x: &Table<K, f64>) -> f64 {
    sum(for n in N {
        let (a, b) = mesh.ends[n];
        ((x[a] - x[b]).abs() - mesh.length[n]).powi(2)
    })
}

#[test]
fn structs_hold_tables_of_pairs() {
    let ends =
        Table::<Dyn, (Dyn, Dyn)>::from_indices(Extent::new(2), Extent::new((3, 3)), vec![1, 5]);
    let mesh = Mesh {
        ends: ends.unwrap(),
        length: Table::from(vec![1.0, 2.0]),
    };
    let x = Table::<Dyn, _>::from(vec![0.0, 4.0, 5.0]);
    assert_eq!(energy(&mesh, &x), 9.0 + 1.0);
    assert_eq!(
        grad!(energy, wrt = x)(&mesh, &x).as_slice(),
        [-6.0, 6.0 + 2.0, -2.0]
    );
    let (of_mesh, _) = grad!(energy)(&mesh, &x);
    let _: () = of_mesh_length(&of_mesh.length);
}

fn of_mesh_length(length: &Table<Dyn, f64>) {
    assert_eq!(length.as_slice(), [-6.0, 2.0]);
}
