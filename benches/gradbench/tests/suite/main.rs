//! The tool, asked as the suite asks it, without the suite.

mod ask;
mod evals;
mod protocol;
