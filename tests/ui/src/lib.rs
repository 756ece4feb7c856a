//! Compile-fail tests. `TRYBUILD=overwrite cargo test -p pointful-ui` writes the `.stderr` files anew.

#[cfg(test)]
mod tests {
    #[test]
    fn mistakes_are_shown() {
        trybuild::TestCases::new().compile_fail("*.rs");
    }
}
