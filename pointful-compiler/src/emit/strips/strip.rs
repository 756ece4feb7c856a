//! One strip: a body whose straight-line parts are loops over lanes, and whose loops and branches
//! all lanes go through together.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;

use super::super::body::Body;
use super::super::expr::{Word, append};
use super::super::names::ident;
use super::super::unit::usize_literal;
use super::super::{lanes, scalar, tokens};
use super::Plan;
use super::look::is_straight;
use super::segment::Part;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Extent, Lit, Operation, Stmt, ValueId};
use crate::ops::Prim;

/// A strip under emission.
pub(super) struct Strip<'p> {
    pub(super) plan: &'p Plan,
    /// The axis' index.
    pub(super) along: ValueId,
    pub(super) index: &'p Ident,
    pub(super) from: &'p Ident,
    pub(super) width: u64,
    /// How many masks there have been.
    masks: usize,
    /// How many values there have been that are loaded or stored in a loop of their own.
    pub(super) moves: usize,
    /// The mask behind which a `var` is bound: the lanes that have it.
    pub(super) bound: BTreeMap<ValueId, Option<Ident>>,
}

impl<'p> Strip<'p> {
    pub(super) fn new(
        plan: &'p Plan,
        (along, index): (ValueId, &'p Ident),
        from: &'p Ident,
        width: u64,
    ) -> Self {
        Self {
            plan,
            along,
            index,
            from,
            width,
            masks: 0,
            moves: 0,
            bound: BTreeMap::new(),
        }
    }

    /// As many points as there are lanes.
    pub(super) fn points(mut self, emit: &mut Body<'_>, body: &Block<Cpu>) -> TokenStream {
        let unit = emit.unit;
        let width = usize_literal(self.width);
        let declared = self.plan.summed.iter().map(|(&place, monoid)| {
            let lanes = lanes::name(unit, place);
            let identity = scalar::literal(monoid.identity(unit.scalar(place)));
            tokens!(let mut #lanes = [#identity; #width];)
        });
        let declared: TokenStream = declared.collect();
        emit.in_lanes.extend(self.plan.summed.keys());
        let emitted = self.block(emit, body, None, Vec::new());
        for place in self.plan.summed.keys() {
            emit.in_lanes.remove(place);
        }
        // In the order of the points, as without lanes.
        let added = self.plan.summed.iter().map(|(&place, &monoid)| {
            let lanes = lanes::name(unit, place);
            let added = emit.combine(monoid, place, &[], &tokens!(#lanes[lane]));
            self.over_lanes(None, &added)
        });
        let added: TokenStream = added.collect();
        tokens!(#declared #emitted #added)
    }

    /// A block, for the lanes whose `mask` is set; `parts` begin its first segment.
    fn block<'b>(
        &mut self,
        emit: &mut Body<'_>,
        block: &'b Block<Cpu>,
        mask: Option<&Ident>,
        parts: Vec<Part<'b>>,
    ) -> TokenStream {
        self.block_then(emit, block, mask, parts, Vec::new())
    }

    /// The same with `last` parts in its last segment.
    fn block_then<'b>(
        &mut self,
        emit: &mut Body<'_>,
        block: &'b Block<Cpu>,
        mask: Option<&Ident>,
        mut parts: Vec<Part<'b>>,
        last: Vec<Part<'b>>,
    ) -> TokenStream {
        let unit = emit.unit;
        let mut emitted = TokenStream::new();
        for stmt in &block.stmts {
            // What is not a part of a segment ends it.
            let inner = match &stmt.op {
                CpuOp::For {
                    extent,
                    reverse,
                    body,
                } => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    self.repeated(emit, *extent, *reverse, body, mask)
                }
                CpuOp::Own(Own::Range { from, to, body, .. }) => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let index = unit.names.value(body.params[0]);
                    let [from, to] = [from, to].map(|&bound| unit.value(bound));
                    let inner = self.block(emit, body, mask, Vec::new());
                    let inner = in_vectors(&inner);
                    tokens!(for #index in #from..#to { #inner })
                }
                CpuOp::While { cond, body } => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    self.endless(emit, cond, body, mask)
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } if self.is_uniform(emit, *cond) => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let then = self.block(emit, then, mask, Vec::new());
                    let otherwise = self.block(emit, otherwise, mask, Vec::new());
                    let cond = unit.value(*cond);
                    tokens!(if #cond { #then } else { #otherwise })
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } if is_straight(then) && is_straight(otherwise) => {
                    self.inline(emit, *cond, [then, otherwise], mask, &mut parts);
                    continue;
                }
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let mut branches = TokenStream::new();
                    let mut masked = Vec::new();
                    let truth = unit.value(*cond);
                    for (branch, truth) in [(then, tokens!(#truth)), (otherwise, tokens!(!#truth))]
                    {
                        if branch.stmts.is_empty() {
                            continue;
                        }
                        let (own, any) = self.new_mask();
                        let declared = self.declared_mask(&own, mask);
                        let narrowed = self.narrowed(&own, &truth, Some(&any));
                        parts.push(Part::Made(*cond, narrowed));
                        append(&mut emitted, declared);
                        append(&mut emitted, self.nobody(&any));
                        masked.push((branch, own, any));
                    }
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let zero = self.zero();
                    for (branch, own, any) in masked {
                        let inner = self.block(emit, branch, Some(&own), Vec::new());
                        append(&mut branches, tokens!(if #any != #zero { #inner }));
                    }
                    branches
                }
                CpuOp::Alloc { fill } => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let buffer = stmt.results[0];
                    fill.map_or_else(TokenStream::new, |fill| {
                        self.each_element(emit, buffer, &scalar::literal(fill))
                    })
                }
                CpuOp::Copy(source) => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let value = emit.read(*source, &tokens!(at));
                    self.each_element(emit, stmt.results[0], &value)
                }
                CpuOp::Swap(a, b) => {
                    append(&mut emitted, self.segment(emit, &mut parts, mask));
                    let (a, b) = (lanes::name(unit, *a), lanes::name(unit, *b));
                    tokens!(::core::mem::swap(&mut #a, &mut #b);)
                }
                CpuOp::Assert { .. } => self.asked(emit, stmt, &mut parts, mask),
                CpuOp::Prim(Prim::Check(_), _) if self.asks(stmt) => {
                    self.asked(emit, stmt, &mut parts, mask)
                }
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::Contract { .. }
                | CpuOp::Own(_) => {
                    parts.push(Part::Stmt(stmt, mask.cloned()));
                    continue;
                }
            };
            append(&mut emitted, inner);
        }
        parts.extend(last);
        append(&mut emitted, self.segment(emit, &mut parts, mask));
        emitted
    }

    fn is_uniform(&self, emit: &Body<'_>, value: ValueId) -> bool {
        // What is not bound here is the same for all points, as what is written out is.
        !emit.unit.is_bound(value) || !self.plan.varying.contains(&value)
    }

    /// Whether an index is checked here, for each lane.
    fn asks(&self, stmt: &Stmt<Cpu>) -> bool {
        let result = stmt.results[0];
        self.plan.varying.contains(&result)
    }

    /// Something that panics unless a value is as it should be: all lanes are asked at once, and
    /// one after the other only if there is one that panics.
    fn asked<'b>(
        &mut self,
        emit: &mut Body<'_>,
        stmt: &'b Stmt<Cpu>,
        parts: &mut Vec<Part<'b>>,
        mask: Option<&Ident>,
    ) -> TokenStream {
        let unit = emit.unit;
        let bad = ident(&format!("bad{}_", self.masks));
        self.masks += 1;
        let (declared, zero) = (self.nobody(&bad), self.zero());
        parts.push(Part::Asked(stmt, bad.clone()));
        let segment = self.segment(emit, parts, mask);
        // Copies, so that nothing else is in memory for the sake of this.
        let mut kept = stmt.op.operands();
        kept.retain(|operand| self.plan.kept.contains(operand));
        let lanes = kept.iter().map(|&operand| lanes::name(unit, operand));
        let lanes: Vec<Ident> = lanes.chain(mask.map(mask_lanes)).collect();
        let fetched = kept.iter().map(|&operand| {
            let (name, lanes) = (unit.names.value(operand), lanes::name(unit, operand));
            tokens!(let #name = #lanes[lane];)
        });
        let operands = stmt.op.operands();
        let steps = operands
            .iter()
            .flat_map(|operand| self.plan.remade.get(operand));
        let remade: Vec<&Stmt<Cpu>> = steps.flatten().collect();
        let remade = emit.block_of(&remade);
        let panics = emit.block_of(&[stmt]);
        let panics = self.over_lanes(mask, &tokens!(#(#fetched)* #remade #panics));
        tokens! {
            #declared
            #segment
            if #bad != #zero {
                #(let #lanes = ::core::hint::black_box(#lanes);)*
                #panics
            }
        }
    }

    /// Branches that belong to the segment around them: statements behind masks of their own.
    fn inline<'b>(
        &mut self,
        emit: &Body<'_>,
        cond: ValueId,
        branches: [&'b Block<Cpu>; 2],
        mask: Option<&Ident>,
        parts: &mut Vec<Part<'b>>,
    ) {
        let cond_tokens = emit.unit.value(cond);
        for (branch, truth) in branches
            .into_iter()
            .zip([tokens!(#cond_tokens), tokens!(!#cond_tokens)])
        {
            if branch.stmts.is_empty() {
                continue;
            }
            let (own, _) = self.new_mask();
            let outer = mask.into_iter();
            parts.push(Part::Made(cond, tokens!(let #own = #truth #(& #outer)*;)));
            for stmt in &branch.stmts {
                if let CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } = &stmt.op
                {
                    self.inline(emit, *cond, [then, otherwise], Some(&own), parts);
                } else {
                    parts.push(Part::Stmt(stmt, Some(own.clone())));
                }
            }
        }
    }

    fn repeated(
        &mut self,
        emit: &mut Body<'_>,
        extent: Extent,
        reverse: bool,
        body: &Block<Cpu>,
        mask: Option<&Ident>,
    ) -> TokenStream {
        let unit = emit.unit;
        let index = unit.names.value(body.params[0]);
        let (before, stop, inner) = match unit.resolve(extent) {
            Extent::Value(length) if !self.is_uniform(emit, length) => {
                // As often as the point that does it most often.
                let most = ident(&format!("most{}_", self.masks));
                let (own, _) = self.new_mask();
                let stop = unit.value(length);
                let (times, goes_on) = match mask {
                    Some(mask) => (
                        tokens!(if #mask { #stop } else { 0usize }),
                        tokens!(#mask & (#index < #stop)),
                    ),
                    None => (tokens!(#stop), tokens!(#index < #stop)),
                };
                let mut counted = vec![Part::Made(length, tokens!(#most = max(#most, #times);))];
                let counted = self.segment(emit, &mut counted, mask);
                let declared = self.declared_mask(&own, None);
                // The mask is known before anything else is done by it.
                let mut narrowed = vec![Part::Made(length, self.narrowed(&own, &goes_on, None))];
                let first = self.segment(emit, &mut narrowed, mask);
                let inner = self.block(emit, body, Some(&own), Vec::new());
                let before = tokens!(let mut #most = 0usize; #counted);
                (before, tokens!(#most), tokens!(#declared #first #inner))
            }
            extent => {
                let inner = self.block(emit, body, mask, Vec::new());
                (
                    TokenStream::new(),
                    unit.extent(extent).into_token_stream(),
                    inner,
                )
            }
        };
        let inner = in_vectors(&inner);
        if reverse {
            tokens!(#before for #index in ::core::iter::Iterator::rev(0..#stop) { #inner })
        } else {
            tokens!(#before for #index in 0..#stop { #inner })
        }
    }

    fn endless(
        &mut self,
        emit: &mut Body<'_>,
        cond: &Block<Cpu>,
        body: &Block<Cpu>,
        mask: Option<&Ident>,
    ) -> TokenStream {
        let (own, any) = self.new_mask();
        let declared = self.declared_mask(&own, mask);
        let go_on = cond.results[0];
        let narrowed = self.narrowed(&own, &emit.unit.value(go_on), Some(&any));
        let last = vec![Part::Made(go_on, narrowed)];
        let test = self.block_then(emit, cond, Some(&own), Vec::new(), last);
        let inner = self.block(emit, body, Some(&own), Vec::new());
        let (nobody, zero) = (self.nobody(&any), self.zero());
        tokens! {
            #declared
            loop {
                #nobody
                #test
                if #any == #zero { break; }
                #inner
                ::core::hint::black_box(());
            }
        }
    }

    /// The name of a mask, and of what says whether any lane takes part. No name of the author's
    /// ends so.
    fn new_mask(&mut self) -> (Ident, Ident) {
        let number = self.masks;
        self.masks += 1;
        (
            ident(&format!("go{number}_")),
            ident(&format!("any{number}_")),
        )
    }

    pub(super) fn zero(&self) -> Word {
        scalar::literal(Lit::Int(self.plan.mask, 0))
    }

    fn nobody(&self, any: &Ident) -> TokenStream {
        let zero = self.zero();
        tokens!(let mut #any = #zero;)
    }

    /// A mask that is that of `outer`, or all lanes.
    fn declared_mask(&self, mask: &Ident, outer: Option<&Ident>) -> TokenStream {
        let lanes = mask_lanes(mask);
        match outer {
            Some(outer) => {
                let outer = mask_lanes(outer);
                tokens!(let mut #lanes = #outer;)
            }
            None => {
                let (zero, width) = (self.zero(), usize_literal(self.width));
                tokens!(let mut #lanes = [!#zero; #width];)
            }
        }
    }

    /// Takes out of a mask the lanes for which something is not true.
    fn narrowed(&self, mask: &Ident, truth: &impl ToTokens, any: Option<&Ident>) -> TokenStream {
        let (lanes, zero) = (mask_lanes(mask), self.zero());
        let any = any.into_iter();
        tokens! {
            #lanes[lane] = if #truth { #lanes[lane] } else { #zero };
            #(#any |= #lanes[lane];)*
        }
    }

    /// Writes `value`, which may depend on `at`, to each element of a point's own buffer.
    fn each_element(&self, emit: &Body<'_>, buffer: ValueId, value: &impl ToTokens) -> TokenStream {
        let length = emit.unit.product(emit.unit.dims(buffer));
        let write = self.over_lanes(None, &emit.write(buffer, &tokens!(at), value));
        tokens!(for at in 0..#length { #write })
    }
}

/// The lanes of a mask.
pub(super) fn mask_lanes(mask: &Ident) -> Ident {
    ident(&format!("{mask}lanes_"))
}

/// A step whose lanes are vectors already. Where it could, the optimiser would rather make vectors of
/// iterations, with gathers; it does not look beyond this.
fn in_vectors(step: &TokenStream) -> TokenStream {
    tokens!(#step ::core::hint::black_box(());)
}
