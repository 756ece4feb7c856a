//! The book's chapters, so that their programs are compiled and run.
//!
//! `cargo test -p pointful-book` runs them all; what fails is named by its chapter and its line.

/// A module for each chapter.
macro_rules! chapters {
    ($($name:ident $path:literal)*) => {$(
        #[doc = include_str!(concat!("src/", $path, ".md"))]
        mod $name {}
    )*};
}

chapters! {
    introduction "introduction"
    tour "tour"
    index_sets "index-sets"
    tables "tables"
    loops "loops"
    reductions "reductions"
    states "states"
    neighbours "neighbours"
    ranges "ranges"
    ragged "ragged"
    accumulators "accumulators"
    scans "scans"
    lifting "lifting"
    structs "structs"
    numbers "numbers"
    functions "functions"
    library "library"
    linear_algebra "linear-algebra"
    special "special"
    random "random"
    transformations "transformations"
    differentiation "differentiation"
    own_derivatives "own-derivatives"
    memory "memory"
    explain "explain"
    optimisers "optimisers"
    performance "performance"
    errors "errors"
    printing "printing"
    interop "interop"
    devices "devices"
    auditing "auditing"
    from_numpy "from-numpy"
    from_ndarray "from-ndarray"
    from_burn "from-burn"
    cheat_sheet "cheat-sheet"
}
