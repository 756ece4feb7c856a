//! How the operations that only Gpu has are printed.

use super::{PrintOwn, Printer};
use crate::ir::stages::gpu::{Gpu, Own};

impl PrintOwn for Gpu {
    fn print_own(p: &mut Printer<'_, Self>, own: &Own) {
        match own {
            Own::Launch(launch) => {
                p.word("launch ");
                if !launch.name.is_empty() {
                    p.word(&super::literal::quote(&launch.name));
                    p.word(" ");
                }
                if launch.trial {
                    p.word("trial ");
                }
                p.word(&format!("block {} ", launch.block));
                if let Some(team) = launch.team {
                    p.word("team ");
                    p.value(team);
                    p.word(" ");
                }
                p.bind_indices(launch.indices(), &launch.extents);
                if !launch.own().is_empty() {
                    p.word(" own (");
                    p.list(launch.own(), |p, &own| {
                        p.bind(own);
                        p.word(": ");
                        let ty = p.program.ty(own).clone();
                        p.ty(&ty);
                    });
                    p.word(")");
                }
                p.word(" ");
                p.block(&launch.body);
            }
            Own::Lanes(lanes) => {
                p.word("lanes ");
                p.bind_indices(&lanes.body.params, &lanes.extents);
                if let Some(of) = lanes.of {
                    p.word(" of ");
                    p.value(of);
                }
                if !lanes.accs.is_empty() {
                    p.word(" (");
                    p.list(&lanes.accs, |p, &(monoid, var)| {
                        p.word(monoid.name());
                        p.word(" ");
                        p.value(var);
                    });
                    p.word(")");
                }
                p.word(" ");
                p.block(&lanes.body);
            }
            Own::Part {
                extents,
                of,
                in_turns,
                body,
            } => {
                p.word("part ");
                p.bind_indices(&body.params, extents);
                p.word(" of ");
                p.value(*of);
                if *in_turns {
                    p.word(" in turns");
                }
                p.word(" ");
                p.block(body);
            }
        }
    }
}
