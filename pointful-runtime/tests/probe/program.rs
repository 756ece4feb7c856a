//! What a user's program does with a card: it opens it, moves tables there and back, and runs a
//! kernel. It ends well if that gives an error, which it prints, and ill if anything panics.

#[path = "../kernels/mod.rs"]
mod kernels;

use kernels::KERNELS;
use pointful_runtime::cuda::launch;
use pointful_runtime::kernel::OutBuf;
use pointful_runtime::{Device, Dyn, Error, Table, ToDevice};

fn main() {
    match run() {
        Ok(device) => println!("{device} has done everything"),
        Err(error) => println!("{error}"),
    }
}

fn run() -> Result<Device, Error> {
    let device = Device::cuda(0)?;
    // Of no bytes, of some, and of more than pass through both staging buffers at once.
    for n in [0, 1, 1000, 2 << 20, (2 << 20) + 1, 5_000_000] {
        let x: Table<Dyn, f32> = (0..n).map(|k| k as f32).collect();
        let there = x.to_device(&device)?;
        let again = there.to_device(&device)?;
        drop(there);
        assert!(again.to_host()? == x, "{n} elements");
    }
    let x: Table<Dyn, f32> = (0..1000).map(|k| k as f32).collect();
    let there = (x.clone(), x.map(|x| 1000.0 - x)).to_device(&device)?;
    let mut out = OutBuf::<f32>::on(&device, 1000)?;
    let arguments = [
        1000_usize.into(),
        2_f32.into(),
        there.0.argument("x"),
        there.1.argument("y"),
        out.argument("out"),
    ];
    // SAFETY: these are the kernel's parameters, and all three buffers have as many elements as it is told.
    let out = unsafe {
        launch(&KERNELS, "saxpy", [7, 1, 1], &arguments)?;
        out.assume_init()
    };
    device.wait()?;
    let expected: Vec<f32> = (0..1000).map(|k| 1000.0 + k as f32).collect();
    assert_eq!(out.to_host()?[..], expected);
    Ok(device)
}
