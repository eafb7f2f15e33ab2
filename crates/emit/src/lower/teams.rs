//! Teams that are counted: exactly as many as the user asks for, dealt to the threads of the device.

use ir::construct::Leaf;
use ir::program::RegionId;

use super::Lowering;
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Writes a construct that counted teams run; answers whether it is one.
    pub(super) fn counted_teams(
        &self,
        _printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        _out: &mut Out<'_>,
    ) -> bool {
        let construct = &self.program.regions[id].construct;
        if !self.changed.contains(&id) || leaves != [Leaf::Teams] {
            return false;
        }
        self.not_lowered(construct);
        true
    }
}
