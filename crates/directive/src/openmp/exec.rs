//! Clauses about where and how code runs: devices, teams, threads, loops, order of memory.

use ir::construct::{
    BindLevel, ClauseKind, DeviceModifier, ErrorSeverity, ErrorTime, MemScope, MemoryOrder,
    OrderModifier, ProcBind, Schedule, ScheduleKind, Spelled, Strict, Threadset,
};
use syntax::TokenKind;

use super::words::list;
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::Choices;

type Kind = ClauseKind<Written>;

pub(super) const BIND_LEVELS: Choices<BindLevel> = Choices {
    what: "a binding",
    words: &[
        ("teams", BindLevel::Teams),
        ("parallel", BindLevel::Parallel),
        ("thread", BindLevel::Thread),
    ],
};

pub(super) const PROC_BINDS: Choices<ProcBind> = Choices {
    what: "a thread affinity",
    words: &[
        ("primary", ProcBind::Primary),
        ("master", ProcBind::Master),
        ("close", ProcBind::Close),
        ("spread", ProcBind::Spread),
    ],
};

pub(super) const THREADSETS: Choices<Threadset> = Choices {
    what: "a set of threads",
    words: &[("omp_pool", Threadset::Pool), ("omp_team", Threadset::Team)],
};

pub(super) const MEMORY_ORDERS: Choices<MemoryOrder> = Choices {
    what: "a memory order",
    words: &[
        ("seq_cst", MemoryOrder::SeqCst),
        ("acq_rel", MemoryOrder::AcqRel),
        ("acquire", MemoryOrder::Acquire),
        ("release", MemoryOrder::Release),
        ("relaxed", MemoryOrder::Relaxed),
    ],
};

pub(super) const MEM_SCOPES: Choices<MemScope> = Choices {
    what: "a memory scope",
    words: &[("all", MemScope::All), ("device", MemScope::Device), ("cgroup", MemScope::Cgroup)],
};

pub(super) const ERROR_TIMES: Choices<ErrorTime> = Choices {
    what: "a time",
    words: &[("compilation", ErrorTime::Compilation), ("execution", ErrorTime::Execution)],
};

pub(super) const SEVERITIES: Choices<ErrorSeverity> = Choices {
    what: "a severity",
    words: &[("fatal", ErrorSeverity::Fatal), ("warning", ErrorSeverity::Warning)],
};

const SCHEDULES: Choices<ScheduleKind> = Choices {
    what: "a schedule kind",
    words: &[
        ("static", ScheduleKind::Static),
        ("dynamic", ScheduleKind::Dynamic),
        ("guided", ScheduleKind::Guided),
        ("auto", ScheduleKind::Auto),
        ("runtime", ScheduleKind::Runtime),
    ],
};

/// `device(ancestor: 1)`
pub(super) fn read_device(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let modifier = if r.eat_word_colon("ancestor") {
        DeviceModifier::Ancestor
    } else if r.eat_word_colon("device_num") {
        DeviceModifier::DeviceNum
    } else {
        DeviceModifier::Unsaid
    };
    Ok(ClauseKind::Device(modifier, r.expr()?))
}

pub(super) fn write_device(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Device(modifier, expr) = kind else { return None };
    Some(match modifier {
        DeviceModifier::Unsaid => format!("({expr})"),
        DeviceModifier::DeviceNum => format!("(device_num: {expr})"),
        DeviceModifier::Ancestor => format!("(ancestor: {expr})"),
    })
}

/// `num_teams(lower: upper)`
pub(super) fn read_num_teams(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let first = r.expr()?;
    if r.p.eat(TokenKind::Colon) {
        return Ok(ClauseKind::NumTeams { lower: Some(first), counts: vec![r.expr()?] });
    }
    Ok(ClauseKind::NumTeams { lower: None, counts: vec![first] })
}

pub(super) fn write_num_teams(kind: &ClauseKind<Spelled>) -> Option<String> {
    match kind {
        ClauseKind::NumTeams { lower, counts } => match (lower, counts.as_slice()) {
            (None, [count]) => Some(format!("({count})")),
            (Some(lower), [count]) => Some(format!("({lower} : {count})")),
            _ => None,
        },
        _ => None,
    }
}

fn strict(r: &mut Reader<'_, '_>) -> Option<Strict> {
    r.eat_word_colon("strict").then_some(Strict)
}

fn strictly(strict: Option<Strict>) -> &'static str {
    strict.map_or("", |Strict| "strict: ")
}

/// `num_threads(strict: 4, 2)`
pub(super) fn read_num_threads(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::NumThreads { strict: strict(r), counts: r.exprs()? })
}

pub(super) fn write_num_threads(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::NumThreads { strict, counts } = kind else { return None };
    Some(format!("({}{})", strictly(*strict), counts.join(", ")))
}

/// `grainsize(strict: 4)`
pub(super) fn read_grainsize(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Grainsize(strict(r), r.expr()?))
}

pub(super) fn write_grainsize(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Grainsize(strict, expr) = kind else { return None };
    Some(format!("({}{expr})", strictly(*strict)))
}

/// `num_tasks(strict: 4)`
pub(super) fn read_num_tasks(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::NumTasks(strict(r), r.expr()?))
}

pub(super) fn write_num_tasks(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::NumTasks(strict, expr) = kind else { return None };
    Some(format!("({}{expr})", strictly(*strict)))
}

/// `, chunk`, or nothing.
fn chunk(r: &mut Reader<'_, '_>) -> Read<Option<syntax::ast::ExprId>> {
    if r.p.eat(TokenKind::Comma) { Ok(Some(r.expr()?)) } else { Ok(None) }
}

fn write_chunk(chunk: &Option<String>) -> String {
    chunk.as_ref().map(|it| format!(", {it}")).unwrap_or_default()
}

/// `schedule(monotonic, simd: dynamic, 4)`
pub(super) fn read_schedule(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let (mut monotonic, mut simd) = (None, false);
    r.modifiers(|r| {
        match r.word() {
            "monotonic" => monotonic = Some(true),
            "nonmonotonic" => monotonic = Some(false),
            "simd" => simd = true,
            _ => return Err(r.unknown_modifier(&["monotonic", "nonmonotonic", "simd"])),
        }
        r.p.bump();
        Ok(())
    })?;
    let kind = r.choice(&SCHEDULES)?;
    Ok(ClauseKind::Schedule(Schedule { kind, monotonic, simd, chunk: chunk(r)? }))
}

pub(super) fn write_schedule(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Schedule(it) = kind else { return None };
    let mut words = Vec::new();
    words.extend(it.monotonic.map(|is| if is { "monotonic" } else { "nonmonotonic" }));
    words.extend(it.simd.then_some("simd"));
    let colon = if words.is_empty() { "" } else { ": " };
    let word = SCHEDULES.word(&it.kind)?;
    Some(format!("({}{colon}{word}{})", words.join(", "), write_chunk(&it.chunk)))
}

/// `dist_schedule(static, 4)`
pub(super) fn read_dist_schedule(r: &mut Reader<'_, '_>) -> Read<Kind> {
    const KINDS: Choices<()> = Choices { what: "a schedule kind", words: &[("static", ())] };
    r.choice(&KINDS)?;
    Ok(ClauseKind::DistSchedule(chunk(r)?))
}

pub(super) fn write_dist_schedule(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::DistSchedule(chunk) = kind else { return None };
    Some(format!("(static{})", write_chunk(chunk)))
}

/// `order(reproducible: concurrent)`
pub(super) fn read_order(r: &mut Reader<'_, '_>) -> Read<Kind> {
    const ORDERS: Choices<()> = Choices { what: "an order", words: &[("concurrent", ())] };
    let modifier = if r.eat_word_colon("reproducible") {
        OrderModifier::Reproducible
    } else if r.eat_word_colon("unconstrained") {
        OrderModifier::Unconstrained
    } else {
        OrderModifier::Unsaid
    };
    r.choice(&ORDERS)?;
    Ok(ClauseKind::Order(modifier))
}

pub(super) fn write_order(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Order(modifier) = kind else { return None };
    Some(match modifier {
        OrderModifier::Unsaid => "(concurrent)".to_owned(),
        OrderModifier::Reproducible => "(reproducible: concurrent)".to_owned(),
        OrderModifier::Unconstrained => "(unconstrained: concurrent)".to_owned(),
    })
}

/// `collapse(2)`
pub(super) fn read_collapse(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Collapse { force: false, count: r.expr()? })
}

pub(super) fn write_collapse(kind: &ClauseKind<Spelled>) -> Option<String> {
    match kind {
        ClauseKind::Collapse { force: false, count } => Some(format!("({count})")),
        _ => None,
    }
}

/// `looprange(first, count)`
pub(super) fn read_looprange(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let first = r.expr()?;
    r.expect(TokenKind::Comma)?;
    Ok(ClauseKind::LoopRange(first, r.expr()?))
}

pub(super) fn write_looprange(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::LoopRange(first, count) = kind else { return None };
    Some(format!("({first}, {count})"))
}

/// `counts(4, omp_fill, 4)`
pub(super) fn read_counts(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let count = |r: &mut Reader<'_, '_>| {
        if r.eat_word("omp_fill") { Ok(None) } else { r.expr().map(Some) }
    };
    Ok(ClauseKind::Counts(r.list(count)?))
}

pub(super) fn write_counts(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Counts(counts) = kind else { return None };
    let texts: Vec<String> =
        counts.iter().map(|it| it.clone().unwrap_or_else(|| "omp_fill".to_owned())).collect();
    Some(list(&texts))
}

/// `apply(grid(1, 2): unroll partial(4), reverse)`
pub(super) fn read_apply(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let (mut which, mut positions) = (None, Vec::new());
    let is_modifier = match r.p.peek_at(1) {
        TokenKind::Colon => true,
        TokenKind::LParen => r.colon_ahead(),
        _ => false,
    };
    if is_modifier {
        which = Some(r.any_word("which loops are meant")?);
        if r.p.at(TokenKind::LParen) {
            positions = r.parens(Reader::exprs)?;
        }
        r.expect(TokenKind::Colon)?;
    }
    let mut directives = vec![r.nested_directive()?];
    while !r.p.at(TokenKind::RParen) && !r.p.at_end() {
        r.p.eat(TokenKind::Comma);
        directives.push(r.nested_directive()?);
    }
    Ok(ClauseKind::Apply { which, positions, directives })
}

pub(super) fn write_apply(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Apply { which, positions, directives } = kind else { return None };
    let one = |it| crate::write::directive(it, &super::STANDARD).ok();
    let directives: Vec<String> = directives.iter().map(one).collect::<Option<_>>()?;
    let positions = if positions.is_empty() { String::new() } else { list(positions) };
    let which = which.as_ref().map(|it| format!("{it}{positions}: ")).unwrap_or_default();
    Some(format!("({which}{})", directives.join(", ")))
}
