//! The procedural macros of pointful.
