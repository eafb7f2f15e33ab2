//! Sections whose code is more than one statement: braces hold it together.
//!
//! In: the program as written, and as it is now. Out: the same, in which each section is one statement: clang takes no more,
//! and OpenMP allows it since version 5.1.

use ir::construct::Leaf;
use ir::program::{Program, Stmt, StmtId, StmtKind};
use ir::region::Region;
use ir::walk::regions_in;

use super::levels::Leveled;

/// Puts braces around such code.
pub(super) fn embraced(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let found: Vec<_> = now.regions.iter().filter_map(|it| parts_of(now, it.1)).collect();
    if found.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (block, parts) in found {
        let list = parts.iter().filter_map(|it| one_statement(&mut leveled.program, it)).collect();
        leveled.program.stmts[block].kind = StmtKind::Block(list);
    }
    Some(leveled)
}

/// The block of sections, and the statements of each, if one has several.
fn parts_of(program: &Program, region: &Region) -> Option<(StmtId, Vec<Vec<StmtId>>)> {
    let block = region.body.filter(|_| region.construct.has(Leaf::Sections))?;
    let StmtKind::Block(list) = &program.stmts[block].kind else { return None };
    let mut parts: Vec<Vec<StmtId>> = Vec::new();
    for stmt in list {
        match parts.last_mut() {
            Some(part) if !is_marked(program, *stmt) => part.push(*stmt),
            Some(_) | None => parts.push(vec![*stmt]),
        }
    }
    parts.iter().any(|it| it.len() > 1).then_some((block, parts))
}

/// Whether a directive begins a section with a statement.
fn is_marked(program: &Program, stmt: StmtId) -> bool {
    matches!(program.stmts[stmt].kind, StmtKind::Region(it) if program.regions[it].construct.has(Leaf::Section))
}

/// The statements of a section as one.
fn one_statement(program: &mut Program, part: &[StmtId]) -> Option<StmtId> {
    let (first, rest) = part.split_first()?;
    let span = program.stmts[*first].span;
    let block = |list: Vec<StmtId>| Stmt { kind: StmtKind::Block(list.into()), span };
    match program.stmts[*first].kind {
        _ if rest.is_empty() => Some(*first),
        StmtKind::Region(section) if is_marked(program, *first) => {
            let around = program.regions[section].parent;
            for inner in rest.iter().flat_map(|it| regions_in(program, *it)).collect::<Vec<_>>() {
                let parent = &mut program.regions[inner].parent;
                if *parent == around {
                    *parent = Some(section);
                }
            }
            let all = program.regions[section].body.into_iter().chain(rest.iter().copied());
            let all = program.stmts.push(block(all.collect()));
            program.regions[section].body = Some(all);
            Some(*first)
        }
        // Code before the first that is marked.
        _ => Some(program.stmts.push(block(part.to_vec()))),
    }
}
