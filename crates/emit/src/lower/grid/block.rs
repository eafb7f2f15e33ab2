//! Variables of which a team has one, in the memory of its group.
//!
//! A variable of a team's own code is one for all its threads. Where they only read it, each has a copy; where they
//! write to it, or its address is taken, it lies in memory that the threads of a group share, if that has room. So does
//! one that the user puts there by naming an allocator. It is declared where the kernel begins, as languages for
//! grids want it, and gets its first value where the program declares it.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{
    CastKind, ExprId, ExprKind, Init, InitId, RegionId, StmtKind, VarId, VarStorage,
};
use ir::region::{Origin, Sharing};
use ir::walk::Part;
use opt::occupancy::Block;
use opt::profile::{Profile, Profiles};
use rustc_hash::FxHashSet;

use super::flat::MOST_THREADS;
use crate::c::{Grid, Out, Printer};
use crate::lower::kernel::regions_in;
use crate::lower::loops;
use crate::lower::{GRID_PROFILE, Lowering};

/// Why a team's variables cannot be where all its threads reach them.
pub(super) const TOO_LARGE: &str = "what its threads share is too large for the memory of a group";

/// The same where pointers to memory of a group are of another kind than pointers to that of the device.
const POINTED_TO: &str = "pointers of OpenCL 1.2 do not lead to what its threads share";

/// Bytes of a group that a kernel may count on, less what sums of its threads take.
pub(super) fn room(grid: Grid) -> u64 {
    /// For a sum in each of two types.
    const SUMS: u64 = 4 << 10;
    let all = match grid {
        // What every device has.
        Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => 32 << 10,
        Grid::Cuda => profile().map_or(0, |it| it.block_memory),
        Grid::Hip => 64 << 10,
    };
    all.saturating_sub(SUMS)
}

/// What is like all GPUs.
fn profile() -> Option<Profile> {
    Profiles::built_in().get(GRID_PROFILE).ok()
}

/// How many blocks of so many threads run at once if each thread has so many registers.
pub(super) fn at_once(threads: u64, registers: u64) -> Option<u64> {
    let fit = profile()?.unit?.fit(Block { threads, registers, memory: 0 })?;
    Some(fit.blocks)
}

/// How many groups of a kernel that take so much memory run at once, for reports.
fn fit(grid: Grid, memory: u64) -> Option<String> {
    let unit = profile().filter(|_| grid == Grid::Cuda)?.unit?;
    let threads = MOST_THREADS as u64;
    let fit = unit.fit(Block { threads, registers: 0, memory })?;
    Some(format!("; {fit}"))
}

/// A variable that lies in the memory of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Near {
    pub(super) var: VarId,
    /// The loop inside that makes it its own, if it is not the team's.
    pub(super) of: Option<RegionId>,
    /// As the kernel names it.
    pub(super) name: String,
}

/// What the user says of where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// In memory of the team.
    Group,
    /// In memory of each thread.
    Thread,
}

impl Lowering<'_> {
    /// Variables of a team that lie in the memory of its group; or why they cannot. `has_loops`: teams may
    /// share loops in the construct.
    pub(super) fn in_block(
        &self,
        id: RegionId,
        has_loops: bool,
        needed: &FxHashSet<VarId>,
    ) -> Result<Vec<Near>, &'static str> {
        let Some(grid) = self.grid else { return Ok(Vec::new()) };
        let program = self.program;
        let mut found = Vec::new();
        for (var, of) in self.team_scope(id, has_loops) {
            let is_chosen = match self.asked_for(of.unwrap_or(id), var) {
                Some(Asked::Group) => true,
                Some(Asked::Thread) => false,
                None => needed.contains(&var),
            };
            if is_chosen && self.is_on_stack(var) {
                return Err(POINTED_TO);
            }
            if is_chosen && !program.types.is_vla(program.vars[var].ty) {
                found.push(Near { var, of, name: String::new() });
            }
        }
        if self.bytes_of(&found) > room(grid) { Err(TOO_LARGE) } else { Ok(found) }
    }

    /// How much memory of a group variables take.
    pub(super) fn bytes_of(&self, block: &[Near]) -> u64 {
        let program = self.program;
        let sizes = block.iter().map(|it| {
            let var = &program.vars[it.var];
            let size = program.model.size_of(&program.types, var.ty).ok()?;
            // Each may begin at a place that suits all types.
            let gap = var.align.unwrap_or(0);
            size.checked_next_multiple_of(16)?.checked_add(gap)
        });
        sizes.fold(0, |all, it| it.map_or(u64::MAX, |it| it.saturating_add(all)))
    }

    /// Variables that a team has one of: those of its own code, and those that clauses make its own, or those of
    /// a loop that teams share.
    fn team_scope(&self, id: RegionId, has_loops: bool) -> Vec<(VarId, Option<RegionId>)> {
        let program = self.program;
        let region = &program.regions[id];
        let mut found = Vec::new();
        let mut counting: Vec<VarId> = Vec::new();
        let own_of = |id: RegionId, of: Option<RegionId>, counting: &mut Vec<VarId>| {
            let region = &program.regions[id];
            counting.extend(region.loops.iter().map(|it| it.var));
            let is_listed = |it: &&ir::region::RegionVar| {
                it.sharing.as_ref().is_some_and(|it| {
                    it.value == Sharing::Private && matches!(it.origin, Origin::Clause(_))
                })
            };
            region.vars.iter().filter(is_listed).map(|it| (it.var, of)).collect::<Vec<_>>()
        };
        found.extend(own_of(id, None, &mut counting));
        let mut open: Vec<Part> = region.body.into_iter().map(Part::Stmt).collect();
        while let Some(part) = open.pop() {
            if let Part::Region(inner) = part {
                found.extend(own_of(inner, Some(inner), &mut counting));
            }
            if let Part::Stmt(stmt) = part {
                match &program.stmts[stmt].kind {
                    // Of such each thread has one.
                    StmtKind::For(it) => {
                        counting.extend(it.init.iter().filter_map(
                            |it| match program.stmts[*it].kind {
                                StmtKind::Local(var) => Some(var),
                                _ => None,
                            },
                        ))
                    }
                    StmtKind::Local(var) => {
                        let it = &program.vars[*var];
                        let is_fixed = program.types.innermost_element(it.ty).quals.is_const;
                        if matches!(it.storage, VarStorage::Local(_)) && !is_fixed {
                            found.push((*var, None));
                        }
                    }
                    _ => {}
                }
            }
            // What is declared in others is the threads'.
            let is_the_teams = |it: RegionId| {
                has_loops && program.regions[it].construct.leaves == [Leaf::Distribute]
            };
            program.parts(part, &mut |it| match it {
                Part::Region(inner) if !is_the_teams(inner) => {}
                it => open.push(it),
            });
        }
        found.retain(|it| !counting.contains(&it.0));
        found.sort();
        found.dedup();
        found
    }

    /// Variables that threads write to though they are not their own, and those whose address is taken.
    pub(super) fn needed_by_all(&self, id: RegionId) -> FxHashSet<VarId> {
        let program = self.program;
        let mut found = FxHashSet::default();
        let Some(body) = program.regions[id].body else { return found };
        for inner in regions_in(program, body) {
            for var in &program.regions[inner].vars {
                if var.written && is_of_others(var) {
                    found.insert(var.var);
                }
            }
        }
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part
                && let ExprKind::AddrOf(of) | ExprKind::Cast(CastKind::ArrayToPointer, of) =
                    program.exprs[e].kind
            {
                found.extend(self.object(of));
            }
            program.parts(part, &mut |it| open.push(it));
        }
        found
    }

    /// The variable that an expression names, or a part of.
    pub(super) fn object(&self, expr: ExprId) -> Option<VarId> {
        match self.program.exprs[expr].kind {
            ExprKind::Var(var) => Some(var),
            ExprKind::Member(of, ..) => self.object(of),
            ExprKind::Index(of, _) => {
                let is_array = self.program.types.is_array(self.program.exprs[of].ty);
                if is_array { self.object(of) } else { None }
            }
            _ => None,
        }
    }

    /// Where a directive or a clause of the team's puts a variable.
    fn asked_for(&self, id: RegionId, var: VarId) -> Option<Asked> {
        let program = self.program;
        let declared = program
            .declarations
            .iter()
            .filter(|it| it.construct.has(Leaf::Allocate) && it.vars.contains(&var));
        let declared = declared.flat_map(|it| it.construct.kinds()).filter_map(|it| match it {
            ClauseKind::Allocator(e) => Some(*e),
            _ => None,
        });
        let is_it = |it: &ExprId| matches!(program.exprs[*it].kind, ExprKind::Var(v) if v == var);
        let listed = program.regions[id].construct.kinds().filter_map(|it| match it {
            ClauseKind::Allocate(it) if it.items.iter().any(is_it) => it.allocator,
            _ => None,
        });
        let number = declared.chain(listed).find_map(|it| loops::constant(program, it))?;
        if directive::GROUP_ALLOCATORS.contains(&number) {
            Some(Asked::Group)
        } else {
            (number == directive::THREAD_ALLOCATOR).then_some(Asked::Thread)
        }
    }

    /// What of a team lies there, for reports.
    pub(super) fn block_told(&self, block: &[Near]) -> Option<String> {
        let program = self.program;
        let sizes = block.iter().filter_map(|it| {
            let var = &program.vars[it.var];
            let size = program.model.size_of(&program.types, var.ty).ok()?;
            Some(format!("`{}` ({size} bytes)", self.own_name(it.var)))
        });
        let sizes: Vec<String> = sizes.collect();
        let fit = self.grid.and_then(|it| fit(it, self.bytes_of(block))).unwrap_or_default();
        (!sizes.is_empty()).then(|| format!("in memory of a team: {}{fit}", sizes.join(", ")))
    }

    /// The name that the user gave a variable.
    pub(super) fn own_name(&self, var: VarId) -> &str {
        self.program.vars[var].name.map_or("", |it| self.program.names.text(it))
    }

    /// Declares them where a kernel begins; the printer then names those of the team.
    pub(super) fn put_block(
        &self,
        printer: &mut Printer<'_>,
        block: &mut [Near],
        out: &mut Out<'_>,
    ) {
        for near in block {
            near.name = format!("__ferry_team{}_{}", self.fresh(), self.own_name(near.var));
            let declared = printer.declare_like(near.var, &near.name);
            out.line(&format!("__ferry_near {declared};"));
            if near.of.is_none() {
                printer.substitute(near.var, near.name.clone());
            }
        }
    }

    /// A declaration of a variable that lies there: its first value. Answers whether it is one.
    pub(in crate::lower) fn block_local(
        &self,
        printer: &Printer<'_>,
        var: VarId,
        out: &mut Out<'_>,
    ) -> bool {
        if !self.state.borrow().team.as_ref().is_some_and(|it| it.is_in_block(var, None)) {
            return false;
        }
        let Some(init) = self.program.vars[var].init else { return true };
        let name = printer.var_name(var);
        // Threads may still be busy with the one that was there before.
        out.line("__ferry_meet();");
        if self.is_zero(init) {
            out.line(&format!("__ferry_clear(&{name}, sizeof({name}));"));
        } else {
            let first = "__ferry_first";
            out.line("if (__ferry_place() == 0)");
            out.line("{");
            out.indented(|out| {
                out.line(&format!("{};", printer.local_as(var, first)));
                let copy = match self.memory() {
                    "" => "__ferry_copy",
                    _ => "__ferry_put_near",
                };
                out.line(&format!("{copy}(&{name}, &{first}, sizeof({name}));"));
            });
            out.line("}");
        }
        out.line("__ferry_meet();");
        true
    }

    /// Whether a value is all zeros.
    fn is_zero(&self, init: InitId) -> bool {
        match &self.program.inits[init] {
            Init::Expr(e) => matches!(self.kind(*e), ExprKind::Int(0)),
            Init::List(_, elements) => elements.iter().all(|it| self.is_zero(it.value)),
        }
    }
}

/// Whether a construct has no copy of a variable for those who run it.
pub(super) fn is_of_others(var: &ir::region::RegionVar) -> bool {
    var.sharing
        .as_ref()
        .is_none_or(|it| it.value == Sharing::Shared || matches!(it.origin, Origin::Enclosing(..)))
}
