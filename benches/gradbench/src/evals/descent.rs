//! Gradient descent, which `particle` and `saddle` nest, and a gradient by forward mode.

use pointful::prelude::*;

#[pointful]
fn norm<D: IndexSet>(x: &Table<D, f64>) -> f64 {
    sum(for d in D {
        x[d].powi(2)
    })
    .sqrt()
}

/// Goes down from `start` along `gradient`, the gradient of `f`: with longer steps while that goes
/// well, else with shorter ones.
#[pointful]
pub fn descend<D: IndexSet>(
    f: impl Fn(&Table<D, f64>) -> f64,
    gradient: impl Fn(&Table<D, f64>) -> Table<D, f64>,
    start: &Table<D, f64>,
) -> Table<D, f64> {
    // Where the gradient and each step are small enough to stop, and after how many steps down they grow.
    let (tolerance, patience) = (1e-5, 10);
    let mut x = for d in D {
        start[d]
    };
    let mut height = f(&x);
    let mut slope = gradient(&x);
    let mut rate = 1e-5;
    let mut good = 0;
    let mut going = norm(&slope) > tolerance;
    while going {
        if good == patience {
            rate *= 2.0;
            good = 0;
        } else {
            let step = for d in D {
                rate * slope[d]
            };
            if norm(&step) <= tolerance {
                going = false;
            } else {
                let next = for d in D {
                    x[d] - step[d]
                };
                let reached = f(&next);
                if reached < height {
                    x = next;
                    height = reached;
                    slope = gradient(&x);
                    good += 1;
                    going = norm(&slope) > tolerance;
                } else {
                    rate /= 2.0;
                    good = 0;
                }
            }
        }
    }
    x
}

/// The gradient of `f` by forward mode: a derivative for each coordinate.
#[pointful]
pub fn forward<D: IndexSet>(f: impl Fn(&Table<D, f64>) -> f64, x: &Table<D, f64>) -> Table<D, f64> {
    for d in D {
        let (_, slope) = jvp!(f)(
            x,
            &for e in D {
                if e == d { 1.0 } else { 0.0 }
            },
        );
        slope
    }
}
