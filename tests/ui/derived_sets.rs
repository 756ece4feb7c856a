//! Types that are no index sets.

use pointful::prelude::*;

#[derive(Clone, Copy, IndexSet)]
struct Generic<T>(T);

#[derive(Clone, Copy, IndexSet)]
union Both {
    a: usize,
    b: usize,
}

#[derive(Clone, Copy, IndexSet)]
struct Nothing;

#[derive(Clone, Copy, IndexSet)]
struct Empty {}

#[derive(Clone, Copy, IndexSet)]
struct Two(usize, usize);

#[derive(Clone, Copy, IndexSet)]
struct Small(u32);

#[derive(Clone, Copy, IndexSet)]
struct Many {
    a: bool,
    b: bool,
    c: bool,
    d: bool,
    e: bool,
    f: bool,
    g: bool,
    h: bool,
    i: bool,
}

#[derive(Clone, Copy, IndexSet)]
enum Shape {
    Point,
    Circle(usize),
}

fn main() {}
