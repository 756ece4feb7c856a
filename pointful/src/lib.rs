//! Array functions in plain Rust syntax, compiled to fused parallel code and differentiated at
//! compile time.
//!
//! A function marked [`#[pointful]`](macro@pointful) keeps its signature; its body is array code
//! over typed index sets. `for i in N { e }` is the table of `e` over all members of `N`,
//! `for i in _` infers the set from how `i` is used, and `sum`, `max`, `argmin` and their like
//! reduce.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! pub fn matmul<I: IndexSet, K: IndexSet, J: IndexSet>(
//!     a: &Table<(I, K), f64>,
//!     b: &Table<(K, J), f64>,
//! ) -> Table<(I, J), f64> {
//!     for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
//! }
//!
//! let extent = Extent::<(Fin<2>, Fin<2>)>::new(((), ()));
//! let a = Table::from_vec(extent, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
//! assert_eq!(matmul(&a, &a).as_slice(), [7.0, 10.0, 15.0, 22.0]);
//! ```
//!
//! This page is the reference of what is not said by types. The book, in the folder `book` of the
//! repository, has the whole language by chapters, with programs: loops, neighbours, ranges,
//! accumulators, scans, lifting, states, and tables for those who come from NumPy, JAX or ndarray.
//!
//! # Derivatives
//!
//! `grad!(f)` is the function that computes the gradient of `f`. It is compiled where it stands,
//! like a function of one's own: the loops of a derivative are parallel where those of the function
//! are, and the whole gradient costs a small multiple of the function, however many inputs there
//! are. (The derivative of a `prod` over all elements goes by running products, one after the
//! other.)
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn loss<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, slope: f64, offset: f64) -> f64 {
//!     mean(for i in N { (slope * x[i] + offset - y[i]).powi(2) })
//! }
//!
//! let (x, y) = (Table::<Dyn, _>::from(vec![0.0, 1.0]), Table::<Dyn, _>::from(vec![1.0, 5.0]));
//! // With respect to every parameter that holds floats, or to those named.
//! let (by_x, by_y, by_slope, by_offset) = grad!(loss)(&x, &y, 3.0, 1.0);
//! assert_eq!((by_x.as_slice(), by_y.as_slice()), (&[0.0, -3.0][..], &[0.0, 1.0][..]));
//! assert_eq!((by_slope, by_offset), (-1.0, -1.0));
//! assert_eq!(value_and_grad!(loss, wrt = offset)(&x, &y, 3.0, 1.0), (0.5, -1.0));
//! ```
//!
//! | | takes besides | gives |
//! |---|---|---|
//! | [`grad!(f)`](grad) | | the gradient of a float: of one parameter bare, of several a tuple |
//! | [`value_and_grad!(f)`](value_and_grad) | | `(value, gradient)` |
//! | [`vjp!(f)`](vjp) | a cotangent of the result | `(value, cotangents)` |
//! | [`jvp!(f)`](jvp) | a tangent for each parameter | `(value, tangent)` |
//! | [`linearize!(f)`](linearize) | | `(value, map)`: the map takes tangents, as often as one likes |
//! | [`jacobian!(f)`](jacobian) | | all derivatives: the result's axes, then the parameter's |
//! | [`hessian!(f)`](hessian) | | the second derivatives of a float |
//! | [`hvp!(f)`](hvp) | a tangent for each parameter | the product of the Hessian with it |
//! | [`vmap!(f)`](vmap) | | the same with one more axis in front, of all parameters or of those named by `over = x` |
//!
//! In plain Rust `f` is the name of a function, and a variable of that name, which would be
//! something else, is an error; in bodies functions may be local, or closures that stand in the
//! transformation: `grad!(|y: f64| x * y * y)(1.0)`.
//!
//! They apply to each other, may be passed as functions, and are allowed in bodies:
//! `grad!(grad!(f))` is the second derivative and `for i in N { grad!(f)(x[i]) }` a table of first
//! ones. [`define!`](define) gives one a name for other modules, [`explain!`](explain) shows what
//! became of it. A tangent or cotangent is passed as the value is: a table by reference, a number
//! by value. What holds parameters as a struct marked `#[pointful]` has its gradient as the same
//! struct, and many of them are a [`Tables`], a struct of tables. The tangent of `x` is called
//! `d_x`, the cotangent of the result `ct` (of a tuple's parts `ct_0`, `ct_1`, …), where `over` and
//! `wrt` of a further transformation name them.
//!
//! Integers, truth values and indices have no derivatives; a parameter marked `#[constant]` and
//! what stands in `stop_gradient(…)` are as constant as they are.
//!
//! ## At kinks
//!
//! Where there is no derivative there still is one answer. Of equal operands of `max` and `min`,
//! and of equal elements of a reduction, the first has the whole derivative. `abs` at 0 has
//! derivative 0, `sqrt` has infinity; `floor`, `round` and their like have 0 everywhere.
//!
//! What a result ignores contributes nothing to its derivative, not even NaN, wherever it was
//! computed: the derivative is that of the program in which it is a constant, at every order,
//! forwards and backwards. So guarding a function's domain guards its derivative, also if the
//! function stands in front of the guard. Ignored is the branch that is not taken of an `if` or
//! `match`, the other side of `unwrap_or`, `&&` and `||`, of `min`, `max` and `clamp`, each element
//! that is not the extremal one, not looked up, or overwritten before anybody looks at it. A factor
//! of zero does not ignore what it is multiplied by.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn larger(x: f64, y: f64) -> f64 { x.max(y) }
//! #[pointful]
//! fn largest<N: IndexSet>(x: &Table<N, f64>) -> f64 { max(x) }
//! #[pointful]
//! fn magnitude(x: f64) -> f64 { x.abs() }
//! #[pointful]
//! fn root(x: f64) -> f64 { x.sqrt() }
//! #[pointful]
//! fn guarded(x: f64) -> f64 { if x > 0.0 { x.sqrt() } else { 0.0 } }
//! #[pointful]
//! fn root_first(x: f64) -> f64 { let r = x.sqrt(); if x > 0.0 { r } else { 0.0 } }
//! #[pointful]
//! fn clamped(x: f64) -> f64 { x.clamp(0.0, 1.0) }
//! #[pointful]
//! fn rounded(x: f64) -> f64 { x.round() + stop_gradient(x) }
//!
//! assert_eq!(grad!(larger)(2.0, 2.0), (1.0, 0.0));
//! assert_eq!(grad!(largest)(&Table::<Dyn, _>::from(vec![1.0, 7.0, 7.0])).as_slice(), [0.0, 1.0, 0.0]);
//! assert_eq!(grad!(magnitude)(0.0), 0.0);
//! assert_eq!(grad!(root)(0.0), f64::INFINITY);
//! assert_eq!(grad!(guarded)(0.0), 0.0);
//! assert_eq!(grad!(root_first)(0.0), 0.0);
//! assert_eq!([-1.0, 0.0, 0.5, 1.0, 2.0].map(grad!(clamped)), [0.0, 1.0, 1.0, 1.0, 0.0]);
//! assert_eq!(grad!(rounded)(0.7), 0.0);
//! ```
//!
//! ## The memory of loops
//!
//! The way back through a loop that assigns needs what each iteration began with. A derivative
//! keeps it, for all iterations, unless the loop is linear in its state. Where that is too much, an
//! attribute before a `for` says what to keep instead; what lies between is computed once more.
//! `#[checkpoint(every = k)]` keeps the state of every `k`-th iteration,
//! `#[checkpoint(levels = l)]` `l` times the `l`-th root of their number, which takes `l` times the
//! computing, and `#[checkpoint]` has as many levels as the number has binary digits, or four if it
//! is not known at compile time. `#[pointful(remat)]` does the same for a function: none of its
//! intermediate values is kept.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn wave<N: IndexSet>(u: &Table<N, f64>, steps: usize) -> f64 {
//!     let mut v = u;
//!     for _t in 0..steps {
//!         v = for i in N { (v[i] + 0.5 * v[(i - 1).wrap()]).sin() };
//!     }
//!     sum(v)
//! }
//!
//! #[pointful]
//! fn frugal<N: IndexSet>(u: &Table<N, f64>, steps: usize) -> f64 {
//!     let mut v = u;
//!     #[checkpoint(every = 10)]
//!     for _t in 0..steps {
//!         v = for i in N { (v[i] + 0.5 * v[(i - 1).wrap()]).sin() };
//!     }
//!     sum(v)
//! }
//!
//! let u = Table::<Dyn, _>::from(vec![0.1; 1000]);
//! let (all, kept) = pointful::stats::measure(|| grad!(wave)(&u, 100));
//! let (same, fewer) = pointful::stats::measure(|| grad!(frugal)(&u, 100));
//! assert_eq!(all, same);
//! assert!(3 * fewer.peak_bytes < kept.peak_bytes);
//! ```
//!
//! A `while` counts its iterations and keeps what it needs of each; `#[bound(n)]` before it says
//! how many there are at most.
//!
//! ## Derivatives of one's own
//!
//! `#[pointful(vjp = g)]` says how a function is differentiated. `g` takes the function's
//! parameters and the cotangent of its result, and gives the cotangents of the parameters;
//! `#[pointful(jvp = g)]` takes tangents of the parameters and gives that of the result, and serves
//! both directions. It replaces the derivative wherever the function is called in what is
//! differentiated.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful(vjp = softplus_vjp)]
//! fn softplus(x: f64) -> f64 { (1.0 + x.exp()).ln() }
//! // Where the exponential overflows, its derivative would be NaN.
//! #[pointful]
//! fn softplus_vjp(x: f64, ct: f64) -> f64 { ct / (1.0 + (-x).exp()) }
//!
//! #[pointful]
//! fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(softplus(x)) }
//!
//! assert_eq!(grad!(total)(&Table::<Dyn, _>::from(vec![0.0, 1e3])).as_slice(), [0.5, 1.0]);
//! assert_eq!(hessian!(total)(&Table::<Dyn, _>::from(vec![0.0])).as_slice(), [0.25]);
//! ```
//!
//! A function that has only a `vjp` cannot be differentiated forwards: `jvp!` and `linearize!` of
//! what calls it are errors that name it, and `jacobian!` goes backwards, whatever the extents.
//! `hvp!` and `hessian!` go forwards over the gradient, through what the `vjp` computes; where it
//! meets such a function in turn, they go backwards again. Where a gradient is a multiple of the
//! function's value, that changes as the `vjp` says, and not as the function is written.
//!
//! A function marked `#[pointful(extern)]` has any Rust as its body, which is not read. It takes and
//! gives numbers and truth values, and has the derivative that its author says or none:
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful(extern, jvp = summed_jvp)]
//! fn summed(x: f64) -> f64 { [x, x].iter().map(|x| x.sin()).sum() }
//!
//! #[pointful]
//! fn summed_jvp(x: f64, tangent: f64) -> f64 { 2.0 * x.cos() * tangent }
//!
//! #[pointful]
//! fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(summed(x)) }
//!
//! assert_eq!(grad!(total)(&Table::<Dyn, _>::from(vec![0.0, 1.0])).as_slice(), [2.0, 2.0 * 1.0_f64.cos()]);
//! ```
//!
//! # Index sets and their members
//!
//! `size(N)` is how many members a set has and `i.ordinal()` which one `i` is, of every set:
//! `size((N, bool))`, `size(Fin::<3>)`, `c.up.ordinal()`. `N::from_ordinal(k, n)` is the member of
//! that number; it panics if there is none, and the extent `n` may be left out. A table may hold
//! members of a set, also of a product: they are valid from when the table is made, and are not
//! checked again.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn stretched<E: IndexSet, K: IndexSet>(edges: &Table<E, (K, K)>, x: &Table<K, f64>) -> f64 {
//!     sum(for e in E { let (a, b) = edges[e]; (x[a] - x[b]).powi(2) })
//! }
//!
//! let (two, pairs) = (Extent::<Dyn>::new(2), Extent::<(Dyn, Dyn)>::new((3, 3)));
//! let edges = Table::<Dyn, (Dyn, Dyn)>::from_indices(two, pairs, vec![1, 5])?; // (0, 1) and (1, 2)
//! assert_eq!(stretched(&edges, &Table::from(vec![0.0, 1.0, 3.0])), 5.0);
//! # Ok::<(), pointful::Error>(())
//! ```
//!
//! Tables over the same index set are of the same size. That is checked when a function is called,
//! before anything runs; what disagrees panics, with the function's name, both parameters and their
//! sizes, and `try_call!(f)(…)` gives it as an [`Error`]. Anything else panics as ever.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn inner<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 { sum(x * y) }
//!
//! let (x, y) = (Table::<Dyn, _>::from(vec![1.0, 2.0]), Table::from(vec![3.0]));
//! assert_eq!(try_call!(inner)(&x, &x), Ok(5.0));
//! let error = try_call!(inner)(&x, &y).unwrap_err();
//! assert_eq!(error.to_string(), "`inner`: parameters `x` and `y` disagree on the size of `N`: 2 in `x`, 1 in `y`");
//! ```
//!
//! A table taken by value that becomes the result is changed in place where each element is made of
//! the old one at its own place alone.
//!
//! # Reductions
//!
//! Each takes a table and reduces it over the index set of its first axes: a product where a `for`
//! runs over a product, and all of a parameter.
//!
//! | | elements | gives |
//! |---|---|---|
//! | `sum`, `prod`, `cumsum`, `cumprod` | numbers, tuples of numbers | the same; of nothing 0 and 1 |
//! | `min`, `max` | numbers | the same; of nothing the type's largest and smallest |
//! | `argmin`, `argmax` | numbers, truth values, members of index sets and tuples of these two | the index of the first extremal element; they panic if there is none |
//! | `mean` | floats | the same; of nothing NaN |
//! | `any`, `all`, `count` | truth values | two truth values; a `usize` |
//!
//! `false` is less than `true`, members and tuples of them are ordered by their ordinals, and NaN
//! is an extremum only among NaNs. So the first place at which something holds is an `argmax`:
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn first_above<N: IndexSet>(x: &Table<N, f64>, limit: f64) -> N { argmax(x > limit) }
//!
//! assert_eq!(first_above(&Table::<Dyn, _>::from(vec![1.0, 5.0, 7.0]), 4.0), Dyn(1));
//! ```
//!
//! ## Operators of one's own
//!
//! `reduce(init, op, t)`, `scan(init, op, t)` and `Accum::monoid(identity, op)` combine elements in
//! whatever groups are fastest. So `op` must be associative, `op(op(a, b), c)` the same as `op(a,
//! op(b, c))`, and an identity must change nothing on either side; nothing else is asked, nor that
//! `op` commute. What Rust's `fold` and JAX's `lax.scan` take, a step from a state to the next, is
//! a loop:
//!
//! ```
//! use pointful::prelude::*;
//!
//! // Not `scan(0.0, |s, v| (1.0 - a) * s + a * v, x)`, where `s` and `v` are not of one kind.
//! #[pointful]
//! fn smoothed<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
//!     let mut s = 0.0;
//!     for i in N {
//!         s = (1.0 - a) * s + a * x[i];
//!         s
//!     }
//! }
//!
//! assert_eq!(smoothed(&Table::<Dyn, _>::from(vec![4.0, 2.0]), 0.5).as_slice(), [2.0, 2.0]);
//! ```
//!
//! A crate that is built with debug assertions tries each operator where it runs, though not in
//! derivatives: three elements that follow each other are combined both ways, at the beginning, in
//! the middle and at the end. Integers must be equal, floats up to 64 units in the last place of
//! the largest number seen; what overflows is not compared. Otherwise it panics and says where the
//! operator is written. An operator that is associative but loses more, as numbers inside of it
//! cancel, is not tried in a function marked `#[pointful(associative)]`. Builds without debug
//! assertions have nothing of all this.
//!
//! # Numbers
//!
//! Integers are those of Rust in release builds, in every build: sums, products, negation and `abs`
//! wrap, and division by zero panics, as does that of the least integer by -1. `^` is exclusive or,
//! of integers and truth values. A power is a method: `x.powi(2)`, `x.powf(0.5)`, of an integer
//! `n.pow(2)`; there is no `**`, and what is no reference cannot be dereferenced. A product of
//! index sets that has more members than a `usize` can count panics where its size is asked for or
//! a loop runs over it.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn quotient(a: i64, b: i64) -> i64 { a / b }
//!
//! #[pointful]
//! fn next(a: i64) -> i64 { a + 1 }
//!
//! #[pointful]
//! fn pairs<N: IndexSet>(_n: Extent<N>) -> usize { size((N, N)) }
//!
//! assert_eq!(quotient(7, -2), -3);
//! assert!(std::panic::catch_unwind(|| quotient(i64::MIN, -1)).is_err());
//! assert_eq!(next(i64::MAX), i64::MIN);
//! assert_eq!(pairs(Extent::<Dyn>::new(3)), 9);
//! assert!(std::panic::catch_unwind(|| pairs(Extent::<Dyn>::new(1 << 40))).is_err());
//! ```
//!
//! # What must hold
//!
//! `assert!` panics as in Rust, with the values that its message names: numbers and truth values,
//! in the forms `{}`, `{:?}`, `{:e}`, with a width and a precision. They are computed where the
//! condition does not hold only. In parallel loops it is one of the failures that is told.
//!
//! ```should_panic
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn roots<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
//!     for i in N {
//!         assert!(x[i] >= 0.0, "no root: {:?} at {}", x[i], i.ordinal());
//!         x[i].sqrt()
//!     }
//! }
//!
//! roots(&Table::<Dyn, _>::from(vec![1.0, -4.0])); // no root: -4.0 at 1
//! ```
//!
//! # Printing
//!
//! `println!`, `print!`, `eprintln!`, `eprint!` and `dbg!` print in builds with debug assertions:
//! there a function that prints runs in the order in which it is written, each point once. Other
//! builds print nothing and have the code of the function without its prints; so have derivatives,
//! what is mapped by `vmap!`, and calls in closures, in every build. Numbers and truth values are
//! shown as in Rust, members of index sets by their numbers.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
//!     let mut s = 0.0;
//!     for i in N {
//!         s += dbg!(2.0 * x[i]);
//!         println!("{i}: {s:.1}");
//!     }
//!     s
//! }
//!
//! assert_eq!(total(&Table::<Dyn, _>::from(vec![1.0, 2.0])), 6.0);
//! ```
//!
//! # Structs
//!
//! A struct marked `#[pointful]`, of numbers, tables, tuples and other such structs, may be a
//! parameter, a result, a state of a loop; a `for` whose body is a struct makes a table of structs,
//! which is a struct of tables. It may be generic in index sets, floats and lengths, and so may be
//! a type alias that is marked.
//!
//! Where all its floats are of one type, such a struct is a vector, as floats, tables and tuples of
//! them are: [`VectorSpace`] adds and scales vectors, takes scalar products, and flattens them to a
//! list of coordinates and back. Numbers that are no floats, indices and extents are no
//! coordinates. So an optimiser can be written once for all models:
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! #[derive(Clone)]
//! struct Line<N: IndexSet> { slopes: Table<N, f64>, offset: f64 }
//!
//! #[pointful]
//! fn loss<N: IndexSet, P: IndexSet>(line: &Line<N>, x: &Table<(P, N), f64>, y: &Table<P, f64>) -> f64 {
//!     mean(for p in P { (sum(for n in N { line.slopes[n] * x[p][n] }) + line.offset - y[p]).powi(2) })
//! }
//!
//! fn descended<V: VectorSpace<Scalar = f64>>(mut at: V, slope: impl Fn(&V) -> V) -> V {
//!     for _ in 0..500 {
//!         let by = slope(&at);
//!         at.axpy(-0.1, &by);
//!     }
//!     at
//! }
//!
//! let x = Table::<(Dyn, Fin<1>), f64>::from_vec(Extent::<(Dyn, Fin<1>)>::new((3, ())), vec![0.0, 1.0, 2.0])?;
//! let y = Table::<Dyn, _>::from(vec![1.0, 3.0, 5.0]);
//! let start = Line { slopes: Table::<Fin<1>, _>::from([0.0]), offset: 0.0 };
//! let line = descended(start, |line| grad!(loss, wrt = line)(line, &x, &y));
//! assert!((line.slopes.as_slice()[0] - 2.0).abs() < 1e-6 && (line.offset - 1.0).abs() < 1e-6);
//! // All coordinates, in order.
//! assert_eq!(line.flatten().len(), 2);
//! # Ok::<(), pointful::Error>(())
//! ```
//!
//! # Rows of different lengths
//!
//! A [`Ragged<N, T>`](Ragged) has a row for each member of `N`, each of its own length: neighbour
//! lists, sentences, the rows of a sparse matrix. `a[i]` is a row, a table of its own; `a[i][j]` is
//! an element, which is not checked where `j` runs over the row. A loop over `N` whose body is a row
//! at its own member makes a `Ragged` with the same rows, and so does a derivative with respect to
//! one. Parameters whose rows meet must have rows of the same lengths, which is checked as sizes of
//! tables are.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn centred<N: IndexSet>(a: &Ragged<N, f64>) -> Ragged<N, f64> { for i in N { a[i] - mean(a[i]) } }
//!
//! #[pointful]
//! fn spread<N: IndexSet>(a: &Ragged<N, f64>) -> f64 { 0.5 * sum(centred(a).powi(2)) }
//!
//! let a = Ragged::from_rows([vec![1.0, 3.0], vec![5.0], vec![]]);
//! assert_eq!(spread(&a), 1.0);
//! assert_eq!(grad!(spread)(&a), Ragged::from_rows([vec![-1.0, 1.0], vec![0.0], vec![]]));
//! ```
//!
//! # Functions of functions
//!
//! A function may take functions, `f: impl Fn(f64) -> f64`, and give one back; closures and
//! functions may be passed, captured and put into arrays. Where a body calls such a function,
//! everything is inlined and nothing of it is left, so derivatives go through it. From plain Rust
//! it can be called with any closure: what only the caller knows is called in order, on the
//! caller's thread, with numbers, members of index sets and what is made of them. It should be a
//! function in the sense of mathematics, since how often it is called is not promised.
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
//!     let width = (to - from) / 100.0;
//!     width * sum(for k in Fin::<100> { f(from + (k.ordinal() as f64 + 0.5) * width) })
//! }
//!
//! #[pointful]
//! fn area(height: f64) -> f64 { integral(|x| height * x * x, 0.0, 1.0) }
//!
//! let mut seen = std::cell::Cell::new(0);
//! let value = integral(|x| { seen.set(seen.get() + 1); x }, 0.0, 2.0);
//! assert!((value - 2.0).abs() < 1e-12 && seen.get_mut() == &100);
//! assert!((grad!(area)(2.0) - 1.0 / 3.0).abs() < 1e-4);
//! ```
//!
//! A function may also be chosen, by the value of an `if` or a `match`, and is chosen anew wherever
//! it is called:
//!
//! ```
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn penalty(robust: bool, width: f64) -> impl Fn(f64) -> f64 {
//!     if robust { move |r| width * (1.0 + (r / width).powi(2)).ln() } else { |r| r * r }
//! }
//!
//! #[pointful]
//! fn cost<N: IndexSet>(residuals: &Table<N, f64>, robust: bool) -> f64 { sum(penalty(robust, 2.0)(residuals)) }
//!
//! assert_eq!(grad!(cost)(&Table::<Dyn, _>::from(vec![1.0, 3.0]), false).as_slice(), [2.0, 6.0]);
//! ```
//!
//! A derivative of what only the caller knows does not exist. `grad!(integral)` is an error, and so
//! is a call from plain Rust of a function that differentiates its parameter; from bodies it can be
//! called:
//!
//! ```compile_fail
//! use pointful::prelude::*;
//!
//! #[pointful]
//! fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 { grad!(f)(x) }
//!
//! #[pointful]
//! fn known(x: f64) -> f64 { slope(|y| y * y, x) }
//!
//! assert_eq!(known(3.0), 6.0);
//! slope(|y| y * y, 3.0);
//! ```
//!
//! # Calling other functions
//!
//! A body may call any function marked `#[pointful]` that its module can name, of any module or
//! crate, and use any constant and index set of its module. Beside a function `f` stands a macro
//! `f!`, its *companion*, by which other functions' expansions come to its text; an import of the
//! function brings both. So where rustc says
//!
//! ```text
//! error: cannot find macro `g` in this scope
//! ```
//!
//! at a call of `g` in a body, either `g` is not marked `#[pointful]`, or `g` calls, perhaps
//! through others, the function that calls it: functions are inlined, so they cannot be recursive.
//!
//! The same goes for types: where rustc cannot find a macro by the name of a struct or alias, that
//! is not marked. Index sets need no mark beside `derive(IndexSet)`.
//!
//! Names are free: words of the language (`sum`, `size`), transformations and macros of Rust that
//! programs write alone (`vec!`, `assert!`, `#[test]`) cannot be names of functions, nor types of
//! the language (`Table`, `Accum`) those of types, and constants are written in capitals. Anything
//! else may be called anything.
//!
//! A function that names constants also emits a hidden type of its own name, which carries them.
//! Where such a function and its module have the same name (`mod solve; pub use solve::solve;`),
//! one of them must be renamed.

// The standard library's expansions name this crate as users' expansions do.
extern crate self as pointful;

#[doc(hidden)]
pub mod __private;

pub use pointful_macros::{
    IndexSet, define, explain, grad, hessian, hvp, jacobian, jvp, linearize, pointful, try_call,
    value_and_grad, vjp, vmap,
};
pub use pointful_runtime::{
    Accum, Axes, Buf, Compound, Dyn, Either, Element, Error, Extent, Fin, Float, IndexSet,
    IntoExtent, Members, Number, Plain, Product, Ragged, StaticSet, Table, Tables, VectorSpace,
    View, memory, stats,
};

#[cfg(any(feature = "cuda", feature = "emulated"))]
pub use pointful_runtime::{Device, ToDevice};
#[cfg(feature = "npy")]
pub use pointful_runtime::{NpyElement, NpyError};

#[path = "std/mod.rs"]
pub mod lib;
pub mod optim;
pub mod prelude;
