//! What the verifier asks of the operations that only Cpu has.

use super::{Places, VerifyError, VerifyOwn};
use crate::ir::Operation;
use crate::ir::stages::cpu::{Cpu, Own};

impl VerifyOwn for Cpu {
    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Par(par) => places.targets(par),
            Own::Bound { .. } | Own::Range { .. } => places.scalars(&own.operands()),
        }
    }
}
