//! A parallel axis in strips: several neighbouring points advance together through the loops inside
//! them.
//!
//! In `par %i: I, %j: J { var %s; for %k: K { … b[k, j] … combine add %s } store c[i, j] }` the
//! inner loop walks down a column of `b`, which neither vectorises nor uses the cache lines it
//! touches. Points are independent, so a strip of them may run statement by statement:
//!
//! ```text
//! for j in start..stop {                        while stop - j_from >= 32 {
//!     let mut s = 0.0;                              let mut s_lanes = [0.0; 32];
//!     for k in 0..n {                               for k in 0..n {
//!         s = s + a[i, k] * b[k, j];      ▶             for lane in 0..32 {
//!     }                                                     let j = j_from + lane;
//!     c[i, j] = s;                                          s_lanes[lane] = s_lanes[lane] + a[i, k] * b[k, j];
//! }                                                     }
//!                                                   }
//!                                                   for lane in 0..32 { let j = j_from + lane; c[i, j] = s_lanes[lane]; }
//!                                                   j_from += 32;
//!                                               }
//! ```
//!
//! The body is cut into *segments*, straight-line statements between inner loops. Each becomes a
//! loop over lanes of constant length, which the optimiser turns into vector instructions; what one
//! segment hands to another is kept for all lanes, but for positions of neighbours, which are
//! computed again. The numbers are those of the plain loop: every point does the same operations in
//! the same order.
//!
//! It pays where the inner loops read along the axis, or not along it at all and add up something
//! for each point, and call nothing; and where a loop hands something on from one iteration to the
//! next, as a solver's steps do, which no optimiser makes vectors of. And it pays where inner loops
//! are so short that vectors of their own would be mostly empty, if there is much to compute in or
//! around them: the logarithm of a sum over a few classes. Where their lengths are not known, both
//! forms are there, and which one runs is asked.
//!
//! Points need not all do the same ([`strip`]): what only some of them run is run for all lanes,
//! and a *mask* says for each lane whether it takes part. A lane that does not changes nothing,
//! reads nothing and writes nothing. A `while` goes on until no lane does, a loop whose length
//! differs until the longest has ended.
//!
//! ```text
//! while c { v = f(v); }     ▶     loop {
//!                                     for lane in 0..16 { go[lane] &= c; any |= go[lane]; }
//!                                     if !any { break; }
//!                                     for lane in 0..16 { v[lane] = if go[lane] { f(v[lane]) } else { v[lane] }; }
//!                                 }
//! ```
//!
//! Buffers that points have for themselves lie side by side, element by element. What points
//! combine into places of the kernel each adds up for itself; the sums are then added in the
//! points' order. What all points of a strip combine into one element of a table of the kernel's
//! they combine with each other first.

mod look;
mod segment;
mod strip;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;

use self::look::{Look, SHORT};
use self::strip::Strip;
use super::angles::Angles;
use super::body::Body;
use super::expr::append;
use super::names::ident;
use super::unit::{Unit, usize_literal};
use super::{lanes, scalar, tokens};
use crate::ir::stages::cpu::Cpu;
use crate::ir::{Block, Extent, Lit, Monoid, Scalar, Stmt, ValueId, ValueSet};

/// Bytes of one variable over a strip: as many registers as are free when there is one variable.
const BYTES: u64 = 256;
/// The same for what is left of a row, and when there are several variables.
const FEW_BYTES: u64 = 128;
/// Bytes that the points' own buffers may have in a strip. Longer ones are better left to one point
/// at a time.
const OWN_BYTES: u64 = 1 << 24;

/// How the points of a row are run in strips.
pub(super) struct Plan {
    /// Numbers of lanes, the larger first.
    widths: Vec<u64>,
    /// Scalars that are the same for all points of the axis, and so computed once for a strip.
    uniform: ValueSet,
    /// Scalars that are not.
    varying: ValueSet,
    /// Those of them, and `var`s, that are bound in one segment and used in another.
    kept: ValueSet,
    /// Positions of neighbours, and how they are computed again.
    remade: BTreeMap<ValueId, Vec<Stmt<Cpu>>>,
    /// Buffers that each point has for itself.
    own: ValueSet,
    /// Places of the kernel that points combine something into.
    summed: BTreeMap<ValueId, Monoid>,
    /// Indices that are in range, and buffers whose elements are there, only where a point comes
    /// by.
    doubtful: ValueSet,
    /// The integer that says whether a lane takes part: as wide as what it decides about.
    mask: Scalar,
    /// Whether a point may be computed twice: nothing is read that is written, nothing accumulated.
    repeatable: bool,
    /// Whether a point alone takes many times as long as its part of a strip.
    carries: bool,
    /// Lengths that must be short for it to pay.
    if_short: Vec<Extent>,
    /// Whether the points read neighbours, so that even few of them are better off together than
    /// each for itself.
    along: bool,
}

/// Whether and how the points along `index` are run in strips.
pub(super) fn plan(
    unit: &Unit<'_>,
    index: ValueId,
    body: &Block<Cpu>,
    angles: Angles,
) -> Option<Plan> {
    let mut look = Look::at(unit, index, body, angles, None)?;
    let (reads, carries) = (look.pays_to_read(), look.pays_to_carry());
    if !(reads || carries || look.pays_if_short()) {
        look = Look::at(unit, index, body, angles, Some(Vec::new())).filter(Look::pays_if_short)?;
    }
    let widest = look
        .kept
        .iter()
        .map(|value| unit.scalar(value).bytes())
        .max()?
        .max(4);
    let widths = if reads && look.kept.len() == 1 {
        vec![BYTES / widest, FEW_BYTES / widest]
    } else {
        vec![FEW_BYTES / widest]
    };
    let (repeatable, along) = (look.repeatable(), look.along());
    let if_short = look.if_short.take().unwrap_or_default();
    let doubtful = [&look.doubtful, &look.own, &look.written];
    Some(Plan {
        widths,
        repeatable,
        along,
        carries: carries && !reads,
        if_short,
        mask: if widest == 4 {
            Scalar::I32
        } else {
            Scalar::I64
        },
        doubtful: doubtful.into_iter().flatten().collect(),
        varying: look.varying(),
        uniform: look.uniform,
        kept: look.kept,
        remade: look.remade,
        own: look.own,
        summed: look.summed,
    })
}

impl Plan {
    /// Whether an axis may be as long as a strip.
    pub(super) fn fits(&self, extent: Extent) -> bool {
        !matches!(extent, Extent::Const(length) if self.widths.iter().all(|&width| length < width))
    }

    /// What must hold for it to pay, if that is not known.
    pub(super) fn condition(&self, unit: &Unit<'_>) -> Option<TokenStream> {
        let most = usize_literal(SHORT);
        let lengths = self.if_short.iter().map(|&extent| unit.extent(extent));
        (!self.if_short.is_empty()).then(|| tokens!(#(#lengths <= #most)&&*))
    }
}

/// The points `start..stop` of a row.
pub(super) fn emit(
    emit: &mut Body<'_>,
    plan: &Plan,
    index: ValueId,
    body: &Block<Cpu>,
    start: &TokenStream,
    stop: &TokenStream,
) -> TokenStream {
    let unit = emit.unit;
    if plan.carries {
        emit.together = plan.widths.first().copied();
    }
    let name = unit.names.value(index);
    let from = ident(&format!("{name}_from"));
    let first = ident(&format!("{name}_first"));
    let fits = ident("fits_");
    let (own, has_room) = own_buffers(emit, plan, &tokens!(#stop - #first));
    let has_room = has_room.map(|bytes| {
        let most = usize_literal(OWN_BYTES);
        (tokens!(let #fits = #bytes <= #most;), tokens!(#fits &&))
    });
    let (decided, fits) = has_room.unwrap_or_default();
    let mut strips = TokenStream::new();
    for (position, &width) in plan.widths.iter().enumerate() {
        let strip = Strip::new(plan, (index, name), &from, width).points(emit, body);
        let width = usize_literal(width);
        // The narrowest once more, ending where the row ends.
        let (more, last) = if plan.repeatable && position + 1 == plan.widths.len() {
            (
                tokens!(#from < #stop && #stop - #first >= #width),
                tokens!(#from = min(#from, #stop - #width);),
            )
        } else {
            (tokens!(#stop - #from >= #width), TokenStream::new())
        };
        append(
            &mut strips,
            tokens! {
                while #fits #more {
                    #last
                    #strip
                    #from += #width;
                }
            },
        );
    }
    for value in &plan.kept {
        emit.in_lanes.remove(&value);
    }
    emit.in_strips.clear();
    // Without lanes, so that a point's numbers do not depend on whether it is in a strip.
    // Of few points alone each adds up in lanes of its own.
    let few = plan.repeatable && !plan.along;
    let rest = match few {
        true => emit.block(body),
        false => emit.without_lanes(|emit| emit.block(body)),
    };
    tokens! {
        let #first = #start;
        let mut #from = #first;
        #decided
        #own
        #strips
        for #name in #from..#stop { #rest }
    }
}

/// Declares what points have for themselves, for all lanes; and how many bytes that is where it
/// depends on extents.
fn own_buffers(
    emit: &mut Body<'_>,
    plan: &Plan,
    points: &TokenStream,
) -> (TokenStream, Option<TokenStream>) {
    let unit = emit.unit;
    let width = plan.widths[0];
    let (mut declared, mut bytes) = (TokenStream::new(), None);
    for buffer in &plan.own {
        emit.in_strips.insert(buffer, width);
        let name = lanes::name(unit, buffer);
        match emit.array_of(buffer) {
            Some(length) => {
                let zero = scalar::literal(Lit::of(unit.scalar(buffer), 0.0));
                let length = usize_literal(length * width);
                append(&mut declared, tokens!(let mut #name = [#zero; #length];));
            }
            None => {
                let (ty, length) = (unit.ty(buffer), unit.product(unit.dims(buffer)));
                let each = usize_literal(width * unit.scalar(buffer).bytes());
                let width = usize_literal(width);
                let before = bytes.into_iter();
                bytes = Some(tokens!((#length).saturating_mul(#each) #(.saturating_add(#before))*));
                append(
                    &mut declared,
                    tokens! {
                        let mut #name = OutBuf::<#ty>::new(if fits_ && #points >= #width { #length * #width } else { 0usize });
                    },
                );
            }
        }
    }
    (declared, bytes)
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;

    /// A program with one kernel over `%0: N`, as it is emitted: a variable `%2` begins as `x[%0]`
    /// and ends in `%9[%0]`.
    #[track_caller]
    fn emitted(statements: &str) -> String {
        // An `if` on the same line would be a part of the statement before.
        let statements = statements.replace(" if ", "\n if ");
        let text = format!(
            "fn f(x: f64[N], t: usize, lengths: usize[N], table: f64[K], at: idx<K>[N], rows: f64[N, K], own u: f64[N], small: u8) -> (f64[N], f64) {{
               %9 = alloc f64[N] %8 = const 0.5f64 %7 = var %8
               par %0: N (add %6 = %7) {{ %1 = load x[%0] %2 = var %1 {statements} %3 = get %2 store %9[%0], %3 }}
               %10 = get %7
               return %9, %10
             }}"
        );
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::ir::verify_after("writing it down", &program);
        let text =
            crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]));
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        text
    }

    /// Whether points advance together.
    fn together(text: &str) -> bool {
        text.contains("const TOGETHER : usize = 16usize")
    }

    #[track_caller]
    fn assert_parts(text: &str, parts: &[&str]) {
        assert!(together(text), "{text}");
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    /// Four operations on `%2`, with names of their own.
    fn step(first: usize) -> String {
        let [a, b, c] = [first, first + 1, first + 2];
        format!("%{a} = get %2 %{b} = mul %{a}, %8 %{c} = add %{b}, %{a} set %2, %{c}")
    }

    /// Twenty more, that nobody looks at.
    fn roots(first: usize) -> String {
        let roots = (first..first + 20).map(|k| format!("%{k} = sqrt %14 "));
        roots.collect()
    }

    #[test]
    fn loops_around_which_there_is_much_are_gone_through_by_all_lanes_if_they_are_short() {
        let sums = |function: &str| {
            emitted(&format!(
                "%14 = var %8 for %11: K {{ %12 = load rows[%0, %11] combine add %14[], %12 }} \
                 %15 = get %14 %16 = {function} %15 combine add %6[], %16"
            ))
        };
        let text = sums("ln");
        for part in [
            "if k <= 12usize { let i4_first = i15 ;",
            // What is loaded lies apart, and has a loop of its own.
            "for i9 in 0 .. k { let mut moved0_ = [0f64 ; 16usize] ; for lane in 0 .. 16usize { let i4 = i4_from + lane ; moved0_ [lane] = get (rows , i4 * k + i9) ; }",
            "let t12 = math :: ln (t11) ; t5_lanes [lane] += t12 ;",
            "} else { for i4 in i15 .. i16 {",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        assert!(!sums("neg").contains("12usize"));
    }

    #[test]
    fn steps_are_taken_by_all_lanes() {
        let text = emitted(&format!("for %11: t {{ {} }}", step(12)));
        assert_parts(
            &text,
            &[
                "while i4_from < i15 && i15 - i4_first >= 16usize { i4_from = min (i4_from , i15 - 16usize) ;",
                "for i8 in 0 .. t { for lane in 0 .. 16usize { let i4 = i4_from + lane ; let t9 = t7_lanes [lane] ; let t10 = t9 * 0.5f64 ; \
             let t11 = t10 + t9 ; t7_lanes [lane] = t11 ; } :: core :: hint :: black_box (()) ; }",
                "moved0_ [lane] = t12 ; } for lane in 0 .. 16usize { let i4 = i4_from + lane ; b1 . write (i4 , moved0_ [lane]) ; }",
                "for i4 in i4_from .. i15 { let t6 = get (x , i4) ; let mut t7 : f64 = t6 ; for i8 in 0usize .. t {",
            ],
        );
    }

    #[test]
    fn lanes_that_do_not_go_on_change_nothing() {
        let text = emitted(&format!(
            "while {{ %11 = get %2 %12 = lt %11, %8 yield %12 }} do {{ {} %16 = load at[%0] %17 = load table[%16] combine add %6[], %17 {} }}",
            step(13),
            roots(20)
        ));
        assert_parts(
            &text,
            &[
                "let mut go0_lanes_ = [! 0i64 ; 16usize] ; loop { let mut any0_ = 0i64 ;",
                "go0_lanes_ [lane] = if t9 { go0_lanes_ [lane] } else { 0i64 } ; any0_ |= go0_lanes_ [lane] ; } if any0_ == 0i64 { break ; }",
                "t7_lanes [lane] = if go0_ { t12 } else { t7_lanes [lane] } ;",
                // An index is in range where it is computed; what is loaded is not where nobody asks.
                "let t14 = if go0_ { let t14 = get (table , i13) ; t14 } else { 0f64 } ;",
                "let before_ = t5_lanes [lane] ; t5_lanes [lane] += t14 ; t5_lanes [lane] = if go0_ { t5_lanes [lane] } else { before_ } ;",
                "for lane in 0 .. 16usize { let i4 = i4_from + lane ; t5 += t5_lanes [lane] ; }",
                // A point that is computed twice would count twice.
                "while i38 - i4_from >= 16usize {",
            ],
        );
        let text = emitted(&format!(
            "%20 = load lengths[%0] for rev %11: %20 {{ {} }}",
            step(12)
        ));
        assert_parts(
            &text,
            &[
                "let mut most0_ = 0usize ;",
                "most0_ = max (most0_ , ",
                "for i9 in :: core :: iter :: Iterator :: rev (0 .. most0_) { let mut go0_lanes_ = [! 0i64 ; 16usize] ;",
                "go0_lanes_ [lane] = if i9 < t8 { go0_lanes_ [lane] } else { 0i64 } ; }",
                "t7_lanes [lane] = if go0_ {",
            ],
        );
    }

    #[test]
    fn branches_without_loops_stand_among_their_neighbours() {
        let text = emitted(&format!(
            "for %11: t {{ {} %15 = gt %14, %8 if %15 {{ set %2, %8 }} else {{ store u[%0], %14 }} }}",
            step(12)
        ));
        assert_parts(
            &text,
            &[
                "let go0_ = t12 ; t7_lanes [lane] = if go0_ { 0.5f64 } else { t7_lanes [lane] } ; let go1_ = ! t12 ; if go1_ { u . write (i4 , t11) ; } }",
            ],
        );
    }

    #[test]
    fn all_lanes_are_asked_before_any_goes_on() {
        let text = emitted(&format!(
            "while {{ %11 = get %2 %12 = lt %11, %8 yield %12 }} do {{ {} {} %41 = cast i64 %15 %42 = check K %41 %43 = load table[%42] set %2, %43 }}",
            step(13),
            roots(20)
        ));
        assert_parts(
            &text,
            &[
                "let i34 = t33 as usize ; bad1_ |= if ((t33) as u64) < (k as u64) { 0i64 } else { go0_lanes_ [lane] } ; i34_lanes [lane] = i34 ; }",
                "if bad1_ != 0i64 { let t33_lanes = :: core :: hint :: black_box (t33_lanes) ; let go0_lanes_ = :: core :: hint :: black_box (go0_lanes_) ; \
                 for lane in 0 .. 16usize { let i4 = i4_from + lane ; if go0_lanes_ [lane] != 0i64 { let t33 = t33_lanes [lane] ; \
                 let i34 = check_index (t33 , k , \"`K`\") ; } } }",
            ],
        );
        let text = emitted(&format!(
            "for %11: t {{ {} %15 = gt %14, %8 assert %15, \"{{}} is small\", %14 }}",
            step(12)
        ));
        assert_parts(
            &text,
            &[
                "let t12 = t11 > 0.5f64 ; t12_lanes [lane] = t12 ; bad0_ |= if t12 { 0i64 } else { ! 0i64 } ; }",
                "let t12 = t12_lanes [lane] ; let t11 = t11_lanes [lane] ; :: core :: assert ! (t12 ,",
            ],
        );
    }

    #[test]
    fn what_points_combine_into_one_element_they_combine_first() {
        let program = "fn f(x: f64[N], y: f64[K], own s: f64[K]) -> f64[K] {
            par %0: N (add %1 = s) {
              %2 = load x[%0] %3 = var %2
              for %4: K { %5 = get %3 combine add %1[%4], %5 %6 = load y[%4] %7 = mul %5, %6 set %3, %7 }
            }
            return s
        }";
        let program = crate::emit::testing::parsed(program).unwrap_or_else(|e| panic!("{e}"));
        let text =
            crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]));
        assert_parts(
            &text,
            &[
                "let mut moved0_ = [0f64 ; 16usize] ;",
                "moved0_ [lane] = t",
                "fold_lanes (moved0_ , | x , y | x + y)",
                // A point that is computed twice would count twice.
                "while i10 - i1_from >= 16usize {",
            ],
        );
    }

    #[test]
    fn points_go_together_through_loops_that_are_cut() {
        let program = "fn f(a: f64[K, N]) -> f64[N] {
            %9 = alloc f64[N] %8 = const 0.0f64 %7 = const 1i64
            par %0: N {
              %1 = var %8
              for %2: K {
                %3 = cast i64 %2 %4 = sub %3, %7 %5 = in_range K %4
                if %5 { %6 = trust K %4 %10 = load a[%6, %0] combine add %1[], %10 } else { }
              }
              %12 = get %1 store %9[%0], %12
            }
            return %9
        }";
        let program = crate::emit::testing::parsed(program).unwrap_or_else(|e| panic!("{e}"));
        let text =
            crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]));
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        // In strips of two widths; where rows begin nothing is read, and elsewhere nothing is asked.
        assert!(text.contains("for lane in 0 .. 32usize"), "{text}");
        assert!(!text.contains("in_range"), "{text}");
    }

    #[test]
    fn points_have_their_own_buffers_side_by_side() {
        let text = emitted(&format!(
            "%20 = alloc f64[t] for %11: t {{ {} store %20[%11], %12 }} for rev %21: t {{ %22 = load %20[%21] {} combine add %6[], %22 }}",
            step(12),
            step(23)
        ));
        assert_parts(
            &text,
            &[
                "let fits_ = (t) . saturating_mul (128usize) <= 16777216usize ;",
                "OutBuf :: < f64 > :: new (if fits_ && i21 - i4_first >= 16usize { t * 16usize } else { 0usize })",
                "b8_lanes . out () . write ((i9) * 16usize + lane , moved0_ [lane]) ;",
                "moved1_ [lane] = b8_lanes . out () . read ((i13) * 16usize + lane) ; } for lane in 0 .. 16usize { let i4 = i4_from + lane ; let t14 = moved1_ [lane] ;",
                "t5_lanes [lane] += t14 ; }",
            ],
        );
    }

    #[test]
    fn what_does_not_pay_or_might_panic_stays_one_point_at_a_time() {
        let step = step(12);
        for statements in [
            // Nothing is carried, or not for long.
            step.clone(),
            format!("%11 = const 0usize for %15: 4 {{ {step} }}"),
            // What is summed up becomes vectors by itself.
            "for %11: K { %12 = load rows[%0, %11] combine add %6[], %12 }".to_owned(),
            format!(
                "%20 = alloc f64[K] for %11: t {{ {step} for %15: K {{ %16 = load table[%15] %17 = mul %16, %14 store %20[%15], %17 }} }}"
            ),
            // Elements that lie apart are most of it.
            "for %11: K { %12 = get %2 %13 = load rows[%0, %11] %14 = mul %12, %13 set %2, %14 }"
                .to_owned(),
            format!(
                "for %11: t {{ {step} %15 = cast i64 %14 %16 = check K %15 %17 = load table[%16] set %2, %17 }}"
            ),
            // Division may panic, and is done one by one.
            format!(
                "for %11: t {{ {step} %15 = cast u8 %14 %16 = div %15, small %17 = cast f64 %16 set %2, %17 }}"
            ),
        ] {
            let text = emitted(&statements);
            assert!(!together(&text), "{statements}: {text}");
        }
        // The same loops otherwise.
        assert!(together(&emitted(&format!("for %11: t {{ {step} }}"))));
    }
}
