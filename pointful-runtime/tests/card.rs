//! What can be said of cards without one: where no driver is, that is an error with a reason; the
//! text for cards is compiled by NVRTC, if one is to be had.

mod kernels;

use kernels::{KERNELS, LANGUAGE};
use pointful_runtime::cuda::compile_with;
use pointful_runtime::{Device, Error};

#[test]
fn without_a_card_there_is_a_reason() {
    match Device::cuda(0) {
        Ok(device) => assert_eq!(format!("{device:?}"), "cuda:0"),
        Err(error @ Error::CudaUnavailable { .. }) => {
            assert!(error.to_string().contains("CUDA"), "{error}");
        }
        Err(error) => panic!("{error}"),
    }
    assert!(matches!(
        Device::cuda(1 << 20),
        Err(Error::CudaUnavailable { .. })
    ));
}

/// What NVRTC, where there is one, says of our kernels for a card: no registers are spilled.
#[test]
fn nvrtc_compiles_the_text_for_cards() {
    let required = std::env::var_os("POINTFUL_REQUIRE_CUDA_TOOLS").is_some();
    for (unit, capability) in [(&KERNELS, (8, 0)), (&KERNELS, (9, 0)), (&LANGUAGE, (9, 0))] {
        let (compiled, version) = match compile_with(unit, capability, &["--ptxas-options=-v"]) {
            Ok(compiled) => compiled,
            Err(Error::CudaUnavailable { reason }) if !required => {
                return eprintln!("skipped: {reason}");
            }
            Err(error) => panic!("{error}"),
        };
        assert!(compiled.cubin.starts_with(b"\x7fELF"), "NVRTC {version:?}");
        let spills = compiled.log.matches("bytes spill stores").count();
        let none = compiled.log.matches("0 bytes spill stores").count();
        assert_eq!(
            (spills, none),
            (unit.kernels.len(), spills),
            "{}",
            compiled.log
        );
    }
}
