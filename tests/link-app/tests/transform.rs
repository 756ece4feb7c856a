//! Transformations in ordinary Rust.
#![deny(warnings)]
#![forbid(unsafe_code)]

mod models {
    use pointful::prelude::{IndexSet, pointful};

    #[derive(Clone, Copy, Debug, IndexSet)]
    pub(super) struct Row(usize);

    const HALF: f64 = 0.5;
    const LEN: usize = 3;

    #[pointful]
    pub(super) fn energy(
        x: &::pointful::Table<Row, f64>,
        w: &::pointful::Table<::pointful::Fin<LEN>, f64>,
    ) -> f64 {
        HALF * sum(for r in _ {
            x[r] * x[r]
        }) * sum(for k in _ {
            w[k]
        })
    }
}

#[test]
fn types_and_constants_come_by_the_carrier() {
    let x = pointful::Table::from_vec(pointful::Extent::<models::Row>::new(2), vec![1.0, 2.0])
        .expect("two");
    let w = pointful::Table::from_vec(
        pointful::Extent::<pointful::Fin<3>>::new(()),
        vec![1.0, 1.0, 1.0],
    )
    .expect("three");
    let (dx, dw) = pointful::grad!(models::energy)(&x, &w);
    assert_eq!(dx.as_slice(), [3.0, 6.0]);
    assert_eq!(dw.as_slice(), [2.5, 2.5, 2.5]);
}
