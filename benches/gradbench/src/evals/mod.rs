//! The evaluations. Each module defines its functions in pointful and says how its inputs and
//! outputs are written.

use crate::protocol::{Answer, Failure, Request};

pub mod ba;
pub mod descent;
pub mod det;
pub mod gmm;
pub mod hello;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;
pub mod particle;
pub mod saddle;

/// What evaluates the functions of a module.
pub type Evaluate = fn(&Request<'_>) -> Result<Answer, Failure>;

/// The module of that name.
///
/// # Errors
/// If there is none.
pub fn module(name: &str) -> Result<Evaluate, Failure> {
    Ok(match name {
        "ba" => ba::evaluate,
        "det" => det::evaluate,
        "gmm" => gmm::evaluate,
        "hello" => hello::evaluate,
        "ht" => ht::evaluate,
        "kmeans" => kmeans::evaluate,
        "llsq" => llsq::evaluate,
        "lse" => lse::evaluate,
        "lstm" => lstm::evaluate,
        "ode" => ode::evaluate,
        "particle" => particle::evaluate,
        "saddle" => saddle::evaluate,
        _ => return Err(format!("there is no module `{name}`").into()),
    })
}
