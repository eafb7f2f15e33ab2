//! Clauses for some types of devices: those for this one hold, the others do not.

use std::mem::{Discriminant, discriminant};

use ir::construct::ClauseKind;
use ir::program::{RegionId, Typed};

use super::Pass;

/// What programs call a device that is made of the host's own cores, the most telling name first.
const OWN_TYPES: [&str; 2] = ["multicore", "host"];

impl Pass<'_> {
    /// Makes the clauses of the group for this device hold; a clause before all groups gives way to
    /// one of its kind in that group.
    pub(super) fn choose_group(&mut self, id: RegionId) {
        let program = &self.leveled.program;
        let construct = &program.regions[id].construct;
        let named = |wanted: &str| {
            construct.groups.iter().position(|it| {
                it.types.iter().any(|it| program.names.text(*it).eq_ignore_ascii_case(wanted))
            })
        };
        // Which device others will have is not known.
        let own = OWN_TYPES.iter().filter(|_| self.is_ours).find_map(|it| named(it));
        let chosen = own.or_else(|| construct.groups.iter().position(|it| it.types.is_empty()));
        let Some(chosen) = chosen.and_then(|it| u16::try_from(it).ok()) else { return };
        let kind = |it: &ClauseKind<Typed>| -> Discriminant<ClauseKind<Typed>> { discriminant(it) };
        let clauses = &mut self.leveled.program.regions[id].construct.clauses;
        let own: Vec<_> =
            clauses.iter().filter(|it| it.group == Some(chosen)).map(|it| kind(&it.kind)).collect();
        // Those that give way change places with the others, so that no clause changes its number.
        for clause in clauses.iter_mut() {
            if clause.group == Some(chosen) {
                clause.group = None;
            } else if clause.group.is_none() && own.contains(&kind(&clause.kind)) {
                clause.group = Some(chosen);
            }
        }
        self.leveled.changed.insert(id);
    }
}
