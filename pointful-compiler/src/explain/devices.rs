//! What runs on devices: kernels and how many threads they have, and what the host waits for.

use crate::ir::print::Names;
use crate::ir::stages::gpu::{Gpu, GpuOp, Launch, Own};
use crate::ir::{self, Block, Extent, Operation, Program, ValueId};
use crate::targets::gpu::Missing;
use crate::targets::gpu::cuda;

/// What runs there, or what that would need.
pub(super) fn devices(gpu: Result<&Program<Gpu>, &Missing>) -> String {
    let program = match gpu {
        Ok(program) => program,
        Err(missing) => return format!("---- devices: refused, as {missing}\n"),
    };
    let mut said = Said {
        program,
        names: Names::new(program),
        text: String::new(),
    };
    said.block(&program.body);
    format!(
        "---- devices: where tables are\n{}\
         ---- gpu: what runs there\n{}\
         ---- cuda: its kernels\n{}",
        said.text,
        ir::print(program),
        cuda::text(program),
    )
}

struct Said<'p> {
    program: &'p Program<Gpu>,
    names: Names<'p, Gpu>,
    text: String,
}

impl Said<'_> {
    fn block(&mut self, block: &Block<Gpu>) {
        for stmt in &block.stmts {
            match &stmt.op {
                GpuOp::Own(Own::Launch(launch)) => self.kernel(launch),
                GpuOp::Load { buffer, .. } => {
                    let name = self.names.value(*buffer);
                    let line = format!("the host waits for an element of {name}\n");
                    self.text.push_str(&line);
                }
                op => {
                    for inner in op.blocks() {
                        self.block(inner);
                    }
                }
            }
        }
    }

    fn kernel(&mut self, launch: &Launch) {
        let name = match launch.name.as_str() {
            "" => "of the host's statements".to_owned(),
            name => format!("{name:?}"),
        };
        let types = |said: &mut Self, values: &[ValueId]| {
            let types = values
                .iter()
                .map(|&value| said.names.ty(said.program.ty(value)));
            types.collect::<Vec<_>>().join(", ")
        };
        let team = match launch.team {
            Some(_) => "a thread, a warp or a block of threads, by sizes,",
            None => "a thread",
        };
        let threads = match (launch.extents.as_slice(), launch.team) {
            ([Extent::Const(1)], None) => "one thread".to_owned(),
            ([Extent::Const(1)], Some(_)) => "a warp or a block of threads, by sizes".to_owned(),
            _ if goes_through_parts(launch) => format!("{team} for each part of the points"),
            _ => format!("{team} for each {}", types(self, launch.indices())),
        };
        let own = match launch.own() {
            [] => String::new(),
            own => format!(", which has {} of its own in memory", types(self, own)),
        };
        let trial = match launch.trial {
            true => ", to find out how long arrays of the next one are",
            false => "",
        };
        self.text
            .push_str(&format!("kernel {name}: {threads}{trial}{own}\n"));
    }
}

fn goes_through_parts(launch: &Launch) -> bool {
    let mut stmts = launch.body.stmts.iter();
    stmts.any(|stmt| match &stmt.op {
        GpuOp::Own(Own::Part { .. }) => true,
        GpuOp::Own(Own::Lanes(lanes)) => lanes.of.is_some(),
        _ => false,
    })
}
