//! How the operations that only Cpu has are printed.

use super::{PrintOwn, Printer};
use crate::ir::stages::cpu::{Cpu, Own};

impl PrintOwn for Cpu {
    fn print_own(p: &mut Printer<'_, Self>, own: &Own) {
        match own {
            Own::Par(par) => p.par(par),
            Own::Bound {
                extent,
                number,
                terms,
            } => {
                p.word("bound ");
                p.extent(*extent);
                p.word(&format!(" {number}"));
                for &(term, minus) in terms {
                    p.word(if minus { " - " } else { " + " });
                    p.value(term);
                }
            }
            Own::Range { from, to, body } => {
                p.word("range ");
                if let (&[index], Some(extent)) = (&body.params[..], p.program.elem(*from).extent())
                {
                    p.bind_index(index, extent);
                }
                p.word(" in ");
                p.value(*from);
                p.word("..");
                p.value(*to);
                p.word(" ");
                p.block(body);
            }
        }
    }
}
