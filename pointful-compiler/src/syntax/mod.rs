//! The Surface tree: what the user wrote, parsed with `syn`, in the words of the language and with
//! every token's span.

pub mod depth;
pub mod generics;
pub mod names;
pub mod parse;
pub mod raw;
pub mod rust;
pub mod seeds;
pub mod signature;
mod start;
pub mod tree;
pub mod vector;
