//! What the verifier asks of the operations that only Cpu has.

use super::{Places, VerifyError, VerifyOwn};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Extent, Operation, ValueId};

impl VerifyOwn for Cpu {
    fn extents_own(own: &Own) -> Vec<Extent> {
        match own {
            Own::Par(par) => par.extents.clone(),
            Own::Bound { extent, .. } => vec![*extent],
            Own::Range { .. } => Vec::new(),
        }
    }

    fn private_own(own: &Own) -> Vec<ValueId> {
        match own {
            Own::Par(par) => par.privates().collect(),
            Own::Bound { .. } | Own::Range { .. } => Vec::new(),
        }
    }

    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Par(par) => places.targets(par),
            Own::Bound { .. } | Own::Range { .. } => places.scalars(&own.operands()),
        }
    }
}
