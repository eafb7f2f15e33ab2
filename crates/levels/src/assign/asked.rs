//! What the clauses of a loop ask for.

use ir::construct::{ClauseKind, Construct, GangArg};
use ir::program::{ExprId, Typed};

/// Levels and order that a loop's own clauses name.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) teams: bool,
    pub(super) threads: bool,
    pub(super) lanes: bool,
    /// In order.
    pub(super) seq: bool,
    /// To be proven.
    pub(super) auto: bool,
    /// Vouched for.
    pub(super) independent: bool,
    /// Iterations per team at a time.
    pub(super) chunk: Option<ExprId>,
    /// Which dimension of the teams.
    pub(super) dim: Option<ExprId>,
}

impl Asked {
    pub(super) fn of(construct: &Construct<Typed>) -> Asked {
        let mut asked = Asked::default();
        for kind in construct.kinds() {
            match kind {
                ClauseKind::Gang(args) => {
                    asked.teams = true;
                    for arg in args {
                        match arg {
                            GangArg::Static(chunk) => asked.chunk = *chunk,
                            GangArg::Dim(dim) => asked.dim = Some(*dim),
                            GangArg::Num(..) => {}
                        }
                    }
                }
                ClauseKind::Worker(_) => asked.threads = true,
                ClauseKind::Vector(_) => asked.lanes = true,
                ClauseKind::Seq => asked.seq = true,
                ClauseKind::Auto => asked.auto = true,
                ClauseKind::Independent => asked.independent = true,
                _ => {}
            }
        }
        asked
    }

    /// Whether it leaves the level to the compiler.
    pub(super) fn is_open(&self) -> bool {
        !self.teams && !self.threads && !self.lanes
    }
}
