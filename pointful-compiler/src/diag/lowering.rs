//! Messages of name resolution, typing and lowering.
