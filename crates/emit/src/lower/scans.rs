//! Loops that make prefixes, as the host's compiler knows them.
//!
//! gcc 12 reads statements before and behind `scan`, but no declarations, and crashes on prefixes of arrays. In: a
//! program. Out: the same, in which halves that declare something are blocks; a loop with prefixes of an array runs in
//! order, each iteration in the thread that has it, and the array itself holds the prefix.

use directive::HOST_DIALECT;
use ir::construct::{Args, ClauseKind, Construct, Leaf, ReductionModifier, Rules};
use ir::program::{ExprKind, Program, RegionId, Stmt, StmtId, StmtKind, Typed, VarId};
use ir::region::{Attribute, Origin, Region, Rule, Sharing};

use super::lanes::is_for_lanes;
use super::levels::{Leveled, plain};

/// Gives such loops that form; the program as written, and as it is now.
pub(super) fn known(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let found: Vec<(RegionId, RegionId)> = now
        .regions
        .iter()
        .filter(|(_, it)| it.construct.leaves == [Leaf::Scan])
        .filter_map(|(id, it)| Some((id, it.parent?)))
        .filter(|(id, it)| {
            now.regions[*it].construct.dialect == HOST_DIALECT
                && (has_array(now, *it) || declares(now, *id, *it))
        })
        .collect();
    if found.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (scan, outer) in found {
        let Some((body, before, behind)) = halves(&leveled.program, scan, outer) else { continue };
        let program = &mut leveled.program;
        match has_array(program, outer) {
            true => in_order(program, outer, body, [before, behind].concat()),
            false => {
                let span = program.regions[scan].span;
                let mut push = |kind| program.stmts.push(Stmt { kind, span });
                let list = [
                    push(StmtKind::Block(before.into())),
                    push(StmtKind::Region(scan)),
                    push(StmtKind::Block(behind.into())),
                ];
                program.stmts[body].kind = StmtKind::Block(list.into());
            }
        }
        leveled.changed.insert(outer);
    }
    Some(leveled)
}

/// The body of the loop, and what stands there before and behind the directive.
fn halves(
    program: &Program,
    scan: RegionId,
    outer: RegionId,
) -> Option<(StmtId, Vec<StmtId>, Vec<StmtId>)> {
    let StmtKind::For(it) = &program.stmts[program.regions[outer].loops.last()?.stmt].kind else {
        return None;
    };
    let StmtKind::Block(list) = &program.stmts[it.body].kind else { return None };
    let is_scan = |it: &StmtId| program.stmts[*it].kind == StmtKind::Region(scan);
    let at = list.iter().position(is_scan)?;
    Some((it.body, list.get(..at)?.to_vec(), list.get(at + 1..)?.to_vec()))
}

/// Whether one of the halves declares something that is not inside of braces.
fn declares(program: &Program, scan: RegionId, outer: RegionId) -> bool {
    let is_declared = |it: &StmtId| {
        matches!(program.stmts[*it].kind, StmtKind::Local(_) | StmtKind::Declaration(_))
    };
    halves(program, scan, outer).is_some_and(|it| it.1.iter().chain(&it.2).any(is_declared))
}

/// What a construct makes prefixes of.
fn prefixes(kind: &ClauseKind<Typed>) -> Option<&[ir::program::ExprId]> {
    match kind {
        ClauseKind::Reduction(it) if it.modifier == Some(ReductionModifier::Inscan) => {
            Some(&it.items)
        }
        _ => None,
    }
}

fn has_array(program: &Program, outer: RegionId) -> bool {
    let is_array = |it: &ir::program::ExprId| program.types.is_array(program.exprs[*it].ty);
    program.regions[outer].construct.kinds().filter_map(prefixes).flatten().any(is_array)
}

/// The iterations run one after the other, and their prefixes are the values of the variables.
fn in_order(program: &mut Program, outer: RegionId, body: StmtId, list: Vec<StmtId>) {
    let region = &program.regions[outer];
    let (function, span) = (region.function, region.span);
    let is_shared = region.construct.has(Leaf::For);
    let items = region.construct.kinds().filter_map(prefixes).flatten();
    let vars: Vec<VarId> = items
        .filter_map(|it| match program.exprs[*it].kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        })
        .collect();
    let region = &mut program.regions[outer];
    region.construct.leaves.retain(|it| *it != Leaf::Simd);
    region.retain_clauses(|it| {
        prefixes(&it.kind).is_none() && !is_for_lanes(&it.kind) && it.on != Some(Leaf::Simd)
    });
    for it in region.vars.iter_mut().filter(|it| vars.contains(&it.var)) {
        let origin = Origin::Rule(Rule::EnclosingShared);
        it.sharing = Some(Attribute { value: Sharing::Shared, origin });
    }
    let block = StmtKind::Block(list.into());
    if !is_shared {
        program.stmts[body].kind = block;
        return;
    }
    region.construct.clauses.push(plain(ClauseKind::Ordered(None), span));
    let inner = program.stmts.push(Stmt { kind: block, span });
    let construct = Construct {
        dialect: HOST_DIALECT,
        leaves: vec![Leaf::Ordered],
        args: Args::None,
        clauses: Vec::new(),
        groups: Vec::new(),
        rules: Rules::NONE,
        span,
    };
    let ordered = program.regions.push(Region {
        construct,
        body: Some(inner),
        function,
        parent: Some(outer),
        loops: Vec::new(),
        vars: Vec::new(),
        reaches: Vec::new(),
        indirect_calls: Vec::new(),
        span,
    });
    let inside = program.stmts.push(Stmt { kind: StmtKind::Region(ordered), span });
    program.stmts[body].kind = StmtKind::Block([inside].into());
}
