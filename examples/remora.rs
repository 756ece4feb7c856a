//! Programs of rank polymorphism: a function says of what rank its arguments are, and is applied
//! cell by cell to what has more. They are the programs by which Remora is explained (Slepak,
//! Shivers, Manolios 2014), each with what it should give.

use pointful::prelude::*;

/// A row.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// A moment of a film.
#[derive(Clone, Copy, IndexSet)]
pub struct Time(usize);

/// A place in a signal.
#[derive(Clone, Copy, IndexSet)]
pub struct Place(usize);

/// A weight of a filter.
#[derive(Clone, Copy, IndexSet)]
pub struct Tap(usize);

/// A coefficient of a polynomial, of the lowest power first.
#[derive(Clone, Copy, IndexSet)]
pub struct Power(usize);

/// A channel of a colour.
#[derive(Clone, Copy, IndexSet)]
pub enum Channel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
}

/// The product of the numbers up to `n`.
#[pointful]
pub fn factorial(n: usize) -> i64 {
    prod(for k in 0..n {
        k as i64 + 1
    })
}

/// Between two numbers: a function of three scalars.
#[pointful]
pub fn lerp(low: f64, high: f64, at: f64) -> f64 {
    low * (1.0 - at) + high * at
}

/// The same function of two pictures and one scalar …
#[pointful]
pub fn fade(
    from: &Table<(Row, Column), f64>,
    to: &Table<(Row, Column), f64>,
    at: f64,
) -> Table<(Row, Column), f64> {
    lerp(from, to, at)
}

/// … and of two films and a number for each moment.
#[pointful]
pub fn dissolve(
    from: &Table<(Time, Row, Column), f64>,
    to: &Table<(Time, Row, Column), f64>,
    at: &Table<Time, f64>,
) -> Table<(Time, Row, Column), f64> {
    lerp(from, to, at)
}

/// One vector behind the other.
#[pointful]
pub fn append<M: IndexSet, N: IndexSet>(
    first: &Table<M, f64>,
    then: &Table<N, f64>,
) -> Table<Either<M, N>, f64> {
    for i in _ {
        match i {
            Either::Left(m) => first[m],
            Either::Right(n) => then[n],
        }
    }
}

/// Row behind row: what appends vectors is applied to each pair of rows.
#[pointful]
pub fn beside<M: IndexSet, N: IndexSet>(
    left: &Table<(Row, M), f64>,
    right: &Table<(Row, N), f64>,
) -> Table<(Row, Either<M, N>), f64> {
    for r in Row {
        append(&left[r], &right[r])
    }
}

/// The product of two vectors.
#[pointful]
pub fn dot<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> f64 {
    sum(a * b)
}

/// All products of two vectors' elements: a scalar and a vector, for each element of the first.
#[pointful]
pub fn outer(a: &Table<Row, f64>, b: &Table<Column, f64>) -> Table<(Row, Column), f64> {
    for i in Row {
        a[i] * b
    }
}

/// A product of matrices: each row of the first scales the rows of the second, which are added.
#[pointful]
pub fn product(
    a: &Table<(Row, Place), f64>,
    b: &Table<(Place, Column), f64>,
) -> Table<(Row, Column), f64> {
    for i in Row {
        sum(for k in Place {
            a[i][k] * b[k]
        })
    }
}

/// A product in any semiring.
#[pointful]
pub fn semiring_dot<N: IndexSet>(
    zero: f64,
    add: impl Fn(f64, f64) -> f64,
    times: impl Fn(f64, f64) -> f64,
    a: &Table<N, f64>,
    b: &Table<N, f64>,
) -> f64 {
    reduce(zero, add, times(a, b))
}

/// The lengths of the shortest ways of two steps: a product of matrices where a sum is the smaller,
/// and a product the sum.
#[pointful]
pub fn two_steps(a: &Table<(Row, Row), f64>) -> Table<(Row, Row), f64> {
    for (i, j) in _ {
        let into = for k in Row {
            a[k][j]
        };
        semiring_dot(f64::INFINITY, |x, y| x.min(y), |x, y| x + y, &a[i], &into)
    }
}

/// A vector, its elements moved so many places to the front; those at the front come to the end.
#[pointful]
pub fn rotate<N: IndexSet>(by: i64, signal: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        signal[(i + by).wrap()]
    }
}

/// A filter: the sum of copies of the signal, each rotated by one place more and multiplied by a
/// weight.
#[pointful]
pub fn convolve(weights: &Table<Tap, f64>, signal: &Table<Place, f64>) -> Table<Place, f64> {
    sum(for t in Tap {
        weights[t] * rotate(t.ordinal() as i64, signal)
    })
}

/// A polynomial at a point: a vector of coefficients and a scalar.
#[pointful]
pub fn polynomial(coefficients: &Table<Power, f64>, x: f64) -> f64 {
    let mut value = 0.0;
    for k in Power.rev() {
        value = value * x + coefficients[k];
    }
    value
}

/// The length of a vector.
#[pointful]
pub fn norm<N: IndexSet>(v: &Table<N, f64>) -> f64 {
    sum(v.powi(2)).sqrt()
}

/// The shade of a colour.
#[pointful]
pub fn shade(colour: &Table<Channel, f64>) -> f64 {
    mean(colour)
}

/// Several functions of one argument: an array of functions is applied to it, one after the other.
#[pointful]
pub fn statistics<N: IndexSet>(v: &Table<N, f64>) -> Table<Fin<3>, f64> {
    let all = [
        |x: &Table<N, f64>| sum(x),
        |x: &Table<N, f64>| mean(x),
        |x: &Table<N, f64>| norm(x),
    ];
    for k in Fin::<3> {
        all[k](v)
    }
}

fn main() {
    println!("5! = {}", factorial(5));
    let signal = Table::from_vec(Extent::new(6), vec![0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    let weights = Table::from_vec(Extent::new(2), vec![0.5, 0.5]);
    let (signal, weights) = (signal.expect("six"), weights.expect("two"));
    println!("{signal}\nsmoothed: {}", convolve(&weights, &signal));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector<I: IndexSet<Size = usize>>(list: &[f64]) -> Table<I, f64> {
        Table::from_vec(Extent::new(list.len()), list.to_vec()).unwrap()
    }

    fn matrix<I: IndexSet<Size = usize>, J: IndexSet<Size = usize>>(
        rows: usize,
        list: &[f64],
    ) -> Table<(I, J), f64> {
        Table::from_vec(Extent::new((rows, list.len() / rows)), list.to_vec()).unwrap()
    }

    #[test]
    fn functions_of_scalars() {
        assert_eq!([0, 1, 5].map(factorial), [1, 1, 120]);
        assert_eq!(lerp(2.0, 4.0, 0.25), 2.5);
        let (black, white) = (matrix(2, &[0.0; 4]), matrix(2, &[1.0, 2.0, 3.0, 4.0]));
        assert_eq!(fade(&black, &white, 0.5).as_slice(), [0.5, 1.0, 1.5, 2.0]);
        let film = |x: f64| Table::from_vec(Extent::new((2, 1, 2)), vec![x; 4]).unwrap();
        let at = vector(&[0.0, 1.0]);
        assert_eq!(
            dissolve(&film(1.0), &film(5.0), &at).as_slice(),
            [1.0, 1.0, 5.0, 5.0]
        );
    }

    #[test]
    fn appended() {
        let (a, b) = (vector::<Row>(&[1.0, 2.0]), vector::<Column>(&[3.0]));
        assert_eq!(append(&a, &b).as_slice(), [1.0, 2.0, 3.0]);
        let (a, b) = (
            matrix::<_, Column>(2, &[1.0, 2.0, 3.0, 4.0]),
            matrix::<_, Place>(2, &[5.0, 6.0]),
        );
        assert_eq!(beside(&a, &b).as_slice(), [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
    }

    #[test]
    fn products() {
        assert_eq!(dot(&vector::<Row>(&[1.0, 2.0]), &vector(&[3.0, 4.0])), 11.0);
        let (a, b) = (vector(&[1.0, 2.0]), vector(&[3.0, 4.0, 5.0]));
        assert_eq!(outer(&a, &b).as_slice(), [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
        let a = matrix(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b = matrix(3, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!(product(&a, &b).as_slice(), [4.0, 5.0, 10.0, 11.0]);
        let far = f64::INFINITY;
        let ways = matrix(3, &[0.0, 1.0, far, far, 0.0, 2.0, 4.0, far, 0.0]);
        assert_eq!(
            two_steps(&ways).as_slice(),
            [0.0, 1.0, 3.0, 6.0, 0.0, 2.0, 4.0, 5.0, 0.0]
        );
    }

    #[test]
    fn rotated() {
        let signal = vector::<Place>(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(rotate(1, &signal).as_slice(), [2.0, 3.0, 4.0, 1.0]);
        assert_eq!(rotate(-1, &signal).as_slice(), [4.0, 1.0, 2.0, 3.0]);
        assert_eq!(rotate(9, &signal).as_slice(), [2.0, 3.0, 4.0, 1.0]);
        let weights = vector(&[2.0, 1.0]);
        assert_eq!(
            convolve(&weights, &signal).as_slice(),
            [4.0, 7.0, 10.0, 9.0]
        );
        let stored = explain!(convolve).lines().next().unwrap();
        assert!(
            stored.starts_with("convolve: kernels 1, allocations 1,"),
            "no copies are stored: {stored}"
        );
    }

    #[pointful]
    fn values(coefficients: &Table<Power, f64>, x: &Table<Place, f64>) -> Table<Place, f64> {
        polynomial(coefficients, x)
    }

    #[pointful]
    fn lengths(v: &Table<(Row, Column), f64>) -> Table<Row, f64> {
        for r in Row {
            norm(&v[r])
        }
    }

    #[pointful]
    fn shades(picture: &Table<(Row, Column, Channel), f64>) -> Table<(Row, Column), f64> {
        shade(picture)
    }

    #[test]
    fn cells_of_mixed_ranks() {
        let found = values(&vector(&[1.0, 0.0, 2.0]), &vector(&[0.0, 1.0, 3.0]));
        assert_eq!(found.as_slice(), [1.0, 3.0, 19.0]);
        assert_eq!(
            lengths(&matrix(2, &[3.0, 4.0, 6.0, 8.0])).as_slice(),
            [5.0, 10.0]
        );
        let picture = Table::from_vec(Extent::new((1, 2, ())), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(shades(&picture.unwrap()).as_slice(), [2.0, 5.0]);
    }

    #[test]
    fn functions_in_tables() {
        assert_eq!(
            statistics(&vector::<Row>(&[3.0, 4.0, 0.0, 0.0])).as_slice(),
            [7.0, 1.75, 5.0]
        );
    }

    #[test]
    fn empty_frames_keep_their_cells() {
        let nothing = Table::from_vec(Extent::new((0, 3)), vec![]).unwrap();
        assert_eq!(fade(&nothing, &nothing, 0.5).extent().size(), (0, 3));
        let (a, b) = (
            Table::zeros(Extent::new((2, 0))),
            Table::zeros(Extent::new((0, 3))),
        );
        assert_eq!(product(&a, &b).as_slice(), [0.0; 6]);
    }
}
