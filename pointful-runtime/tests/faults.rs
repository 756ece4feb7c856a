//! Kernels that do what they may not do: the emulated device reports each of them, in every order of
//! threads.

use pointful_runtime::cuda::{Argument, Emulation, Kernel, Unit, launch};
use pointful_runtime::kernel::OutBuf;
use pointful_runtime::{Device, Dyn, Error, Table, ToDevice};

macro_rules! kernels {
    ($($name:ident $block:literal)*) => {
        &[$(Kernel { name: stringify!($name), block: $block }),*]
    };
}

static FAULTS: Unit = Unit {
    name: "faults.cu",
    text: include_str!("kernels/faults.cu"),
    kernels: kernels! {
        no_barrier 64
        no_barrier_before_the_next_write 64
        barrier_of_the_warp_for_one_of_the_block 64
        no_warp_barrier 32
        exchange_for_a_warp_barrier 32
        one_copy_for_a_warp 32
        loop_one_too_long 32
        write_outside 32
        negative_index 32
        shared_outside 32
        outside_of_all 32
        two_blocks_write 32
        a_block_reads_what_another_writes 32
        nobody_has_written 32
        shared_memory_of_the_block_before 32
        wrong_lane_leads 32
        no_merge_of_some 32
        not_all_reach_the_barrier 64
        two_barriers 64
        not_all_lanes_exchange 64
        lanes_at_two_exchanges 32
        a_warp_exchanges_while_a_warp_waits 64
        count_is_not_zero_again 32
        not_all_blocks_ask 32
        written_after_the_last_block_was_asked_for 32
        two_sizes 32
        not_aligned 32
    },
    definitions: &[],
};

/// How a kernel is launched: how many blocks, how often, whether it is given a count, and whether
/// `out` has been written before.
#[derive(Clone, Copy)]
struct Run {
    blocks: u32,
    times: usize,
    counts: bool,
    written: bool,
}

const ONE_BLOCK: Run = Run {
    blocks: 1,
    times: 1,
    counts: false,
    written: false,
};

impl Run {
    /// Launches it, in some order of threads.
    fn run(self, kernel: &str, seed: u64) -> Result<(), Error> {
        let device = Device::emulate(Emulation {
            seed,
            ..Emulation::default()
        });
        let x = Table::<Dyn, f32>::ones(100).to_device(&device)?;
        let count = Table::from(vec![0_u32]).to_device(&device)?;
        let written = Table::<Dyn, f32>::zeros(256).to_device(&device)?;
        let mut fresh = OutBuf::<f32>::on(&device, 256)?;
        let out = if self.written {
            written.argument("out")
        } else {
            fresh.argument("out")
        };
        let mut arguments = vec![x.argument("x"), out];
        if self.counts {
            arguments.push(count.argument("count"));
        }
        for _ in 0..self.times {
            // SAFETY: what the kernel does that it may not do is reported before it is done.
            unsafe { launch(&FAULTS, kernel, [self.blocks, 1, 1], &arguments) }?;
        }
        Ok(())
    }

    /// What the device reports of a kernel has each of these words, in every order of threads.
    #[track_caller]
    fn reports(self, kernel: &str, parts: &[&str]) {
        for seed in 0..10 {
            let error = self.run(kernel, seed).expect_err("it is reported");
            assert!(matches!(&error, Error::KernelFault { .. }), "{error:?}");
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("kernel `{kernel}`: block ")),
                "{text}"
            );
            for part in parts {
                assert!(text.contains(part), "`{part}` is not in: {text}");
            }
        }
    }
}

/// Where the first line is that has this text.
#[track_caller]
fn at(text: &str) -> String {
    let line = FAULTS.text.lines().position(|line| line.contains(text));
    format!("(faults.cu:{})", line.expect("a line has it") + 1)
}

#[test]
fn a_missing_barrier() {
    for kernel in ["no_barrier", "barrier_of_the_warp_for_one_of_the_block"] {
        ONE_BLOCK.reports(kernel, &["tile[", "(faults.cu:", "nothing orders the two"]);
    }
    // A read, and then the write of the next round; or the other way.
    ONE_BLOCK.reports(
        "no_barrier_before_the_next_write",
        &["tile[", "nothing orders the two"],
    );
}

#[test]
fn a_missing_barrier_of_a_warp() {
    ONE_BLOCK.reports("no_warp_barrier", &["tile[", "nothing orders the two"]);
    ONE_BLOCK.reports(
        "exchange_for_a_warp_barrier",
        &["tile[", "nothing orders the two"],
    );
    ONE_BLOCK.reports("one_copy_for_a_warp", &["sum[0]", "nothing orders the two"]);
}

#[test]
fn what_lies_outside() {
    ONE_BLOCK.reports(
        "loop_one_too_long",
        &[&format!(
            "thread 4 reads x[100] {}, outside of its allocation of 100 elements",
            at("i <= 100")
        )],
    );
    ONE_BLOCK.reports(
        "write_outside",
        &[&format!(
            "thread 31 writes out[256] {}, outside of its allocation of 256 elements",
            at("8 * threadIdx.x + 8")
        )],
    );
    ONE_BLOCK.reports(
        "negative_index",
        &[&format!(
            "thread 0 reads x[-1] {}, outside of its allocation of 100 elements",
            at("ST(out, threadIdx.x, LD(x, i));")
        )],
    );
    ONE_BLOCK.reports(
        "shared_outside",
        &[&format!(
            "thread 31 reads tile[32] {}, outside of its allocation of 32 elements",
            at("tile, threadIdx.x + 1")
        )],
    );
    ONE_BLOCK.reports(
        "outside_of_all",
        &["reads other[", "which lies in no allocation"],
    );
}

#[test]
fn blocks_that_meet() {
    Run {
        blocks: 2,
        ..ONE_BLOCK
    }
    .reports(
        "two_blocks_write",
        &["writes out[", "of block ", "nothing orders the two"],
    );
    Run {
        blocks: 2,
        written: true,
        ..ONE_BLOCK
    }
    .reports(
        "a_block_reads_what_another_writes",
        &["out[", "nothing orders the two"],
    );
    Run {
        blocks: 3,
        counts: true,
        written: true,
        ..ONE_BLOCK
    }
    .reports(
        "written_after_the_last_block_was_asked_for",
        &["reads out[", "of block ", "nothing orders the two"],
    );
}

#[test]
fn what_nobody_has_written() {
    ONE_BLOCK.reports(
        "nobody_has_written",
        &[&format!(
            "thread 7 reads out[7] {}, which nobody has written",
            at("32 + threadIdx.x, LD(out")
        )],
    );
    Run {
        blocks: 2,
        ..ONE_BLOCK
    }
    .reports(
        "shared_memory_of_the_block_before",
        &[
            "block 1: thread ",
            "reads tile[",
            "which nobody has written",
        ],
    );
    ONE_BLOCK.reports(
        "wrong_lane_leads",
        &["reads leads[", "which nobody has written"],
    );
    Run {
        blocks: 3,
        counts: true,
        ..ONE_BLOCK
    }
    .reports(
        "no_merge_of_some",
        &[&format!(
            "thread 0 reads out[3] {}, which nobody has written",
            at("piece < 4; piece++) sum")
        )],
    );
}

#[test]
fn barriers_that_not_all_threads_reach() {
    ONE_BLOCK.reports(
        "not_all_reach_the_barrier",
        &[&format!(
            "thread 0 waits at BARRIER() {}, and thread 40 has ended",
            at("// forty")
        )],
    );
    ONE_BLOCK.reports(
        "two_barriers",
        &[&format!(
            "thread 0 waits at BARRIER() {}, and thread 32 at BARRIER() {}",
            at("// first"),
            at("// second")
        )],
    );
    ONE_BLOCK.reports(
        "not_all_lanes_exchange",
        &[
            "thread 32 waits at shfl_xor() (base.cu:",
            "and thread 40 has ended",
        ],
    );
    ONE_BLOCK.reports(
        "lanes_at_two_exchanges",
        &[
            &format!("shfl_down() {}", at("shfl_down(mine, 1)")),
            &format!("shfl_xor() {}", at("mine = shfl_xor(mine, 1)")),
        ],
    );
    ONE_BLOCK.reports(
        "a_warp_exchanges_while_a_warp_waits",
        &[&format!(
            "thread 0 waits at BARRIER() {}, and thread 32 has ended",
            at("if (threadIdx.x < 32) BARRIER")
        )],
    );
}

#[test]
fn blocks_that_are_counted_wrongly() {
    let once = Run {
        blocks: 3,
        counts: true,
        ..ONE_BLOCK
    };
    once.run("count_is_not_zero_again", 0)
        .expect("once is well");
    Run {
        blocks: 3,
        times: 2,
        counts: true,
        ..ONE_BLOCK
    }
    .reports(
        "count_is_not_zero_again",
        &[&format!(
            "last_block() {} has counted 3 blocks, and there are 3: the count was not 0 at first",
            at("last_block(count) && threadIdx.x == 0) ST(out, 0, LD(x, 0));")
        )],
    );
    Run {
        blocks: 3,
        counts: true,
        ..ONE_BLOCK
    }
    .reports(
        "not_all_blocks_ask",
        &["asks last_block() ", " times, and block "],
    );
}

#[test]
fn elements_of_another_size() {
    ONE_BLOCK.reports(
        "two_sizes",
        &[
            "wide[",
            " as 8 bytes, where others of the same launch are of 4",
        ],
    );
    ONE_BLOCK.reports(
        "not_aligned",
        &["reads odd[", "which is not aligned to its 4 bytes"],
    );
}

#[test]
fn arguments_that_are_not_the_kernel_s() {
    let device = Device::emulated();
    let x = Table::<Dyn, f32>::ones(100)
        .to_device(&device)
        .expect("moved");
    let run = |arguments: &[Argument]| {
        // SAFETY: no thread runs.
        let error = unsafe { launch(&FAULTS, "no_barrier", [1, 1, 1], arguments) };
        error.expect_err("it is reported").to_string()
    };
    assert_eq!(
        run(&[x.argument("x")]),
        "kernel `no_barrier`: it has 2 parameters, and was given 1"
    );
    assert_eq!(
        run(&[x.argument("x"), 1_u32.into()]),
        "kernel `no_barrier`: parameter 1 has 8 bytes, and was given 4"
    );
}

#[test]
fn memory_of_another_device() {
    // Its buffers are refused before; here an address of one is given as a number.
    let (here, there) = (Device::emulated(), Device::emulate(Emulation::default()));
    let mut out = OutBuf::<f32>::on(&here, 256).expect("there is memory");
    let mut other = OutBuf::<f32>::on(&there, 256).expect("there is memory");
    let address = other.argument("x").bits();
    // SAFETY: what the kernel does that it may not do is reported before it is done.
    let error = unsafe {
        launch(
            &FAULTS,
            "negative_index",
            [1, 1, 1],
            &[address.into(), out.argument("out")],
        )
    };
    let error = error.expect_err("it is reported").to_string();
    assert!(error.ends_with("which lies in no allocation"), "{error}");
}
