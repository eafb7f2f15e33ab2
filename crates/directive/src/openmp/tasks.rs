//! Clauses about tasks and what they wait for: `depend`, `doacross`, `affinity`.

use ir::construct::{ClauseKind, Depend, DependKind, Doacross, DoacrossKind, Spelled};
use syntax::TokenKind;
use syntax::ast::{BinaryOp, ExprId, ExprKind, Tree};

use super::data::write_iterators;
use super::words::prefixed;
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::Choices;

type Kind = ClauseKind<Written>;

pub(super) const DEPENDS: Choices<DependKind> = Choices {
    what: "a dependence type",
    words: &[
        ("in", DependKind::In),
        ("out", DependKind::Out),
        ("inout", DependKind::Inout),
        ("mutexinoutset", DependKind::Mutexinoutset),
        ("inoutset", DependKind::Inoutset),
        ("depobj", DependKind::Depobj),
    ],
};

const ALL_MEMORY: &str = "omp_all_memory";
const THIS_ITERATION: &str = "omp_cur_iteration";

/// `depend(iterator(…), in: items)`; also the old `depend(source)` and `depend(sink: …)`.
pub(super) fn read_depend(r: &mut Reader<'_, '_>) -> Read<Kind> {
    if matches!(r.word(), "source" | "sink") && r.leaves == [ir::construct::Leaf::OrderedPoint] {
        return doacross(r, true);
    }
    let mut depend = Depend {
        kind: DependKind::Inout,
        iterators: Vec::new(),
        items: Vec::new(),
        all_memory: false,
    };
    let mut has_kind = false;
    while !has_kind {
        if r.eat_word("iterator") {
            depend.iterators.extend(r.iterators()?);
            r.expect(TokenKind::Comma)?;
        } else {
            depend.kind = r.choice(&DEPENDS)?;
            has_kind = true;
        }
    }
    r.expect(TokenKind::Colon)?;
    loop {
        if r.eat_word(ALL_MEMORY) {
            depend.all_memory = true;
        } else {
            depend.items.push(r.item()?);
        }
        if !r.p.eat(TokenKind::Comma) {
            return Ok(ClauseKind::Depend(depend));
        }
    }
}

pub(super) fn write_depend(kind: &ClauseKind<Spelled>) -> Option<String> {
    if let ClauseKind::Doacross(it) = kind {
        return if it.old_form { Some(write_vector(&it.kind, true)) } else { None };
    }
    let ClauseKind::Depend(depend) = kind else { return None };
    let mut words: Vec<String> = write_iterators(&depend.iterators).into_iter().collect();
    words.push(DEPENDS.word(&depend.kind)?.to_owned());
    let mut items = Vec::new();
    items.extend(depend.all_memory.then(|| ALL_MEMORY.to_owned()));
    items.extend(depend.items.iter().cloned());
    Some(prefixed(&words, &items))
}

/// `doacross(source:)`, `doacross(sink: i - 1, j)`
pub(super) fn read_doacross(r: &mut Reader<'_, '_>) -> Read<Kind> {
    doacross(r, false)
}

fn doacross(r: &mut Reader<'_, '_>, old_form: bool) -> Read<Kind> {
    const KINDS: Choices<bool> =
        Choices { what: "a dependence type", words: &[("source", true), ("sink", false)] };
    let is_source = r.choice(&KINDS)?;
    let kind = if is_source {
        let has_colon = r.p.eat(TokenKind::Colon);
        DoacrossKind::Source { has_word: has_colon && r.eat_word(THIS_ITERATION) }
    } else {
        r.expect(TokenKind::Colon)?;
        let vector = r.exprs()?;
        match vector.as_slice() {
            [one] if is_previous(r.p.tree(), *one) => DoacrossKind::SinkPrevious,
            _ => DoacrossKind::Sink(vector),
        }
    };
    Ok(ClauseKind::Doacross(Doacross { old_form, kind }))
}

/// `omp_cur_iteration - 1`
fn is_previous(tree: &Tree, expr: ExprId) -> bool {
    let Some(ExprKind::Binary(BinaryOp::Sub, left, right)) =
        tree.exprs.find(expr).map(|it| &it.kind)
    else {
        return false;
    };
    let text = |it: &ExprId| match tree.exprs.find(*it).map(|it| &it.kind) {
        Some(ExprKind::Name(name) | ExprKind::Number(name)) => tree.names.text(*name),
        _ => "",
    };
    text(left) == THIS_ITERATION && text(right) == "1"
}

pub(super) fn write_doacross(kind: &ClauseKind<Spelled>) -> Option<String> {
    match kind {
        ClauseKind::Doacross(it) if !it.old_form => Some(write_vector(&it.kind, false)),
        _ => None,
    }
}

fn write_vector(kind: &DoacrossKind<Spelled>, old_form: bool) -> String {
    match kind {
        DoacrossKind::Source { has_word: true } => format!("(source: {THIS_ITERATION})"),
        DoacrossKind::Source { has_word: false } if old_form => "(source)".to_owned(),
        DoacrossKind::Source { has_word: false } => "(source:)".to_owned(),
        DoacrossKind::Sink(vector) => format!("(sink: {})", vector.join(", ")),
        DoacrossKind::SinkPrevious => format!("(sink: {THIS_ITERATION} - 1)"),
    }
}

/// `affinity(iterator(…): items)`
pub(super) fn read_affinity(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut iterators = Vec::new();
    r.modifiers(|r| {
        if !r.eat_word("iterator") {
            return Err(r.unknown_modifier(&["iterator"]));
        }
        iterators.extend(r.iterators()?);
        Ok(())
    })?;
    Ok(ClauseKind::Affinity(iterators, r.items()?))
}

pub(super) fn write_affinity(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Affinity(iterators, items) = kind else { return None };
    let words: Vec<String> = write_iterators(iterators).into_iter().collect();
    Some(prefixed(&words, items))
}

/// `update(in)` of `depobj`
pub(super) fn read_update(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::DepobjUpdate(r.choice(&DEPENDS)?))
}

pub(super) fn write_update(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::DepobjUpdate(kind) = kind else { return None };
    Some(format!("({})", DEPENDS.word(kind)?))
}
