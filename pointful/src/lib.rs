//! Array functions in plain Rust syntax, compiled to fused parallel code and differentiated at compile time.
