//! How signatures and programs correspond: sizes, checks at entry, parameters, results, constants.

use super::{lower_source, rendered};
use crate::interface::{Access, Carrier, ExtentSource, Field, ParamSource, SetShape, Shape, Taken};
use crate::ir::SizeId;
use crate::lower::Lowered;

fn lowered(source: &str) -> Lowered {
    lower_source(source).unwrap_or_else(|errors| panic!("{source}\n{}", rendered(&errors)))
}

fn source(source: &ExtentSource) -> String {
    let place = |access: &Access, what: &str| format!("{}{what}", access.name);
    let carrier = match &source.carrier {
        Carrier::Table(access) => place(access, ".extent"),
        Carrier::Elements(access) => place(access, ".elements"),
        Carrier::Extent(access) => place(access, ""),
        Carrier::Static(ty) => ty.to_string().replace(' ', ""),
    };
    format!("{} from {carrier}{:?}", source.set, source.path)
}

fn set(shape: &SetShape) -> String {
    let all = |parts: &[SetShape]| parts.iter().map(set).collect::<Vec<_>>().join(", ");
    match shape {
        SetShape::Size(SizeId(id)) => format!("#{id}"),
        SetShape::Static(ty) => ty.to_string().replace(' ', ""),
        SetShape::Product(None, parts) => format!("({})", all(parts)),
        SetShape::Product(Some(ty), parts) => format!("{ty}({})", all(parts)),
        SetShape::Either(a, b) => format!("Either<{}, {}>", set(a), set(b)),
        SetShape::Dyn => "Dyn".into(),
    }
}

fn shape(result: &Shape) -> String {
    match result {
        Shape::Unit => "()".into(),
        Shape::Scalar => "scalar".into(),
        Shape::Index(of) => format!("member of {}", set(of)),
        Shape::Table {
            set: over,
            elements: None,
        } => format!("table over {}", set(over)),
        Shape::Table {
            set: over,
            elements: Some(of),
        } => format!("table over {} of {}", set(over), set(of)),
        Shape::Ragged { rows, elements } => {
            let of = elements.as_ref().map(|of| format!(" of {}", set(of)));
            format!("rows of {}{}", rows.name, of.unwrap_or_default())
        }
        Shape::Extent(of) => format!("extent of {}", set(of)),
        Shape::Tuple(parts) => format!(
            "({})",
            parts.iter().map(shape).collect::<Vec<_>>().join(", ")
        ),
        Shape::OneOf(sides) => format!("{} or {}", shape(&sides[0]), shape(&sides[1])),
        Shape::Struct(fields) => format!(
            "struct of {}",
            fields.iter().map(shape).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn param(param: &ParamSource) -> String {
    let path = |access: &Access| {
        let fields: Vec<String> = access
            .fields
            .iter()
            .map(|member| match member {
                Field::Named(syn::Member::Named(name)) => format!(".{name}"),
                Field::Named(syn::Member::Unnamed(index)) => format!(".{}", index.index),
                Field::Hidden(at) => format!(".#{at}"),
                Field::Called(name) => format!(".{name}()"),
                Field::Sum => ".sum".to_owned(),
                Field::Referred(at) => format!(".{at}"),
                Field::IsSecond => ".is_second".to_owned(),
                Field::Held(second) => format!(".held_{second}"),
            })
            .collect();
        format!(
            "{}{}",
            access.root.to_string().replace(' ', ""),
            fields.concat()
        )
    };
    match param {
        ParamSource::Scalar(access, _) => format!("scalar {}", path(access)),
        ParamSource::Index(access, of) => format!("member {} of {}", path(access), set(of)),
        ParamSource::Table(access) => format!("table {}", path(access)),
        ParamSource::Owned(access) => format!("owned {}", path(access)),
        ParamSource::Kept(number) => format!("kept {number}"),
        ParamSource::Array(access, rank) => format!("array {} of rank {rank}", path(access)),
        ParamSource::Constant { access, taken, .. } => constant(&path(access), taken),
    }
}

fn constant(path: &str, taken: &Taken) -> String {
    match taken {
        Taken::Exactly(ty) => format!("constant {path}: {ty}"),
        Taken::Integer(ty) => format!("integer constant {path}: {ty}"),
        Taken::Number(ty) => format!("number constant {path}: {ty}"),
        Taken::Member(set) => format!("constant {path} in {set}"),
        Taken::Index(set) => format!("constant {path}, in {set} or an integer"),
    }
}

/// Holds what the interface of a function is, line by line.
fn has(text: &str, want: &[&str]) {
    let lowered = lowered(text);
    let interface = &lowered.interface;
    let mut found: Vec<String> = Vec::new();
    for (k, extent) in interface.extents.iter().enumerate() {
        found.push(format!("#{k}: {}", source(extent)));
    }
    for (SizeId(size), check) in &interface.checks {
        found.push(format!("check #{size}: {}", source(check)));
    }
    found.extend(interface.params.iter().map(param));
    found.push(format!("gives {}", shape(&interface.result)));
    for access in &interface.write_back {
        found.push(format!("back to {}", access.name));
    }
    for constant in &lowered.constants {
        found.push(self::constant(&constant.key, &constant.taken));
    }
    assert_eq!(interface.extents.len(), lowered.program.sizes.len());
    assert_eq!(interface.params.len(), lowered.program.params.len());
    assert_eq!(found, want, "{text}");
}

#[test]
fn sizes_are_found_at_their_first_place_and_checked_at_the_others() {
    has(
        "fn f<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>, k: K) -> Table<(I, J), f64> {
            for (i, j) in _ { sum(for k in K { a[i][k] * b[k][j] }) }
        }",
        &[
            "#0: I from a.extent[0]",
            "#1: K from a.extent[1]",
            "#2: J from b.extent[1]",
            "check #1: K from b.extent[0]",
            "table a",
            "table b",
            "member k of #1",
            "gives table over (#0, #2)",
        ],
    );
}

#[test]
fn members_and_extents_carry_sizes() {
    has(
        "fn f<N: IndexSet, K: IndexSet, M: IndexSet>(class: &Table<N, K>, m: Extent<(M, N)>) -> (Table<N, K>, Extent<M>) {
            (for n in N { class[n] }, M)
        }",
        &[
            "#0: N from class.extent[]",
            "#1: K from class.elements[]",
            "#2: M from m[0]",
            "check #0: N from m[1]",
            "table class",
            "gives (table over #0 of #1, extent of #2)",
        ],
    );
}

#[test]
fn occurrences_of_dyn_are_equal_where_the_body_says_so() {
    has(
        "fn f(a: &Table<(Dyn, Dyn), f64>, x: &Table<Dyn, f64>, y: &Table<Dyn, f64>) -> Table<Dyn, f64> {
            for i in _ { y[0] + sum(for k in _ { a[i][k] * x[k] }) }
        }",
        &[
            "#0: Dyn from a.extent[0]",
            "#1: Dyn from a.extent[1]",
            "#2: Dyn from y.extent[]",
            "check #1: Dyn from x.extent[]",
            "table a",
            "table x",
            "table y",
            "gives table over #0",
        ],
    );
}

#[test]
fn a_computed_length_is_a_dyn_of_its_own() {
    has(
        "fn f(m: usize) -> Table<(Fin<2>, Dyn), usize> { for i in Fin::<2> { for k in 0..m { k } } }",
        &[
            "scalar m",
            "gives table over (::pointful::__private::Fin<{2}>, Dyn)",
        ],
    );
}

#[test]
fn structs_tuples_and_named_sets_are_taken_apart() {
    has(
        "#[derive(IndexSet)] struct Row(usize);
        #[derive(IndexSet)] struct Col(usize);
        #[derive(IndexSet)] enum Channel { R, G, B }
        #[derive(IndexSet)] struct Cell { pub row: Row, col: Col }
        struct Model { pub w: Table<Cell, f32>, bias: (f32, Table<Channel, f32>) }
        type Pair = (Model, bool);
        fn f(p: Pair, at: Cell, c: Channel) -> (Model, Cell, Channel) { (p.0, at, c) }",
        &[
            "#0: Row from p.0.w.extent[0]",
            "#1: Col from p.0.w.extent[1]",
            "owned p.0.w",
            "scalar p.0.#1.0",
            "owned p.0.#1.1",
            "scalar p.1",
            "member at.row of #0",
            "member at.#1 of #1",
            "member c of Channel",
            "gives (struct of table over Cell(#0, #1), (scalar, table over Channel), member of Cell(#0, #1), member of Channel)",
        ],
    );
}

#[test]
fn static_sizes_come_from_their_type() {
    has(
        "fn f<const N: usize>(x: &Table<Fin<N>, f64>, y: [[f64; 3]; 2], z: &Table<Fin<LEN>, f64>) -> Table<(Fin<N>, bool), f64> {
            for (i, b) in (Fin::<N>, bool) { x[i] + y[0][1] + z[0] }
        }",
        &[
            "#0: Fin<N> from ::pointful::__private::Fin<{N}>[]",
            "#1: Fin<LEN> from ::pointful::__private::Fin<{LEN}>[]",
            "table x",
            "array y of rank 2",
            "table z",
            "gives table over (::pointful::__private::Fin<{N}>, bool)",
        ],
    );
}

#[test]
fn what_was_lent_is_given_back() {
    has(
        "fn f<N: IndexSet>(u: &mut Table<N, f64>, by: f64) { u *= by; }",
        &[
            "#0: N from u.extent[]",
            "owned u",
            "scalar by",
            "gives ()",
            "back to u",
        ],
    );
}

#[test]
fn tables_over_the_unit_set_are_scalars() {
    has(
        "fn f(x: &Table<(), f64>) -> Table<(), f64> { x[()] * 2.0 }",
        &["table x", "gives table over ()"],
    );
}

#[test]
fn constants_are_parameters_and_have_types() {
    has(
        "fn g(x: f32) -> f32 { x * INNER }
        fn f(x: f32) -> f32 { g(x) * m::OUTER + sum(for k in Fin::<3> { WEIGHTS[k] }) }",
        &[
            "scalar x",
            "constant INNER: f32",
            "constant m::OUTER: f32",
            "constant WEIGHTS: [f32 ; 3]",
            "gives scalar",
            "constant m::OUTER: f32",
            "constant WEIGHTS: [f32 ; 3]",
        ],
    );
}

#[test]
fn unions_have_a_size_of_their_own() {
    has(
        "fn f<A: IndexSet>(z: &Table<(Either<A, Fin<3>>, A), f64>) -> Table<Either<A, Fin<3>>, f64> {
            for e in _ { sum(z[e]) }
        }",
        &[
            "#0: A from z.extent[0, 0]",
            "#1: Either<A, Fin<3>> from z.extent[0]",
            "check #0: A from z.extent[1]",
            "table z",
            "gives table over Either<#0, ::pointful::__private::Fin<{3}>>",
        ],
    );
}
