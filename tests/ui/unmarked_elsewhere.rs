//! What nobody has marked, in other files of the crate.

mod other_files;

use other_files::physics::{Ball, force as pull};
use other_files::*;
use pointful::prelude::*;

#[pointful]
fn by_an_import(x: f64) -> f64 {
    pull(x)
}

#[pointful]
fn of_a_struct(ball: &Ball) -> f64 {
    ball.radius
}

#[pointful]
fn by_a_path(x: f64) -> f64 {
    other_files::physics::force(x) + crate::other_files::physics::weigth(x)
}

#[pointful]
fn among_everything(x: f64) -> f64 {
    square(x) + cube(x) + kube(x)
}

fn main() {
    by_an_import(1.0);
    of_a_struct(&Ball { radius: 1.0 });
    by_a_path(1.0);
    among_everything(1.0);
    grad!(square)(1.0);
    other_files::deeper(1.0);
}
