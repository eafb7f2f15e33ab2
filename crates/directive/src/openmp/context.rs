//! Clauses about variants: context selectors, chosen directives, interoperability objects.

use ir::construct::{
    AdjustOp, ClauseKind, DependKind, InteropInit, Leaf, PreferredRuntime, Property, Selector,
    SelectorSet, SelectorSetKind, Spelled,
};
use syntax::TokenKind;

use super::STANDARD;
use super::tasks::DEPENDS;
use super::words::{list, prefixed};
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::{Choices, Heading};
use crate::write::{directive, leaves_name, write_clause};

type Kind = ClauseKind<Written>;

const SETS: Choices<SelectorSetKind> = Choices {
    what: "a selector set",
    words: &[
        ("construct", SelectorSetKind::Construct),
        ("device", SelectorSetKind::Device),
        ("target_device", SelectorSetKind::TargetDevice),
        ("implementation", SelectorSetKind::Implementation),
        ("user", SelectorSetKind::User),
    ],
};

const ADJUSTMENTS: Choices<AdjustOp> = Choices {
    what: "an adjustment",
    words: &[
        ("nothing", AdjustOp::Nothing),
        ("need_device_ptr", AdjustOp::NeedDevicePtr),
        ("need_device_addr", AdjustOp::NeedDeviceAddr),
    ],
};

// ---------------------------------------------------------------- selectors

/// `device={kind(gpu)}, user={condition(n > 4)}`
fn selector_sets(r: &mut Reader<'_, '_>) -> Read<Vec<SelectorSet<Written>>> {
    r.list(|r| {
        let set = r.choice(&SETS)?;
        r.expect(TokenKind::Equal)?;
        r.expect(TokenKind::LBrace)?;
        let selectors = r.list(|r| selector(r, set))?;
        r.expect(TokenKind::RBrace)?;
        Ok(SelectorSet { set, selectors })
    })
}

/// `vendor(score(2): gnu)`, or a construct: `parallel`, `simd(simdlen(8))`
fn selector(r: &mut Reader<'_, '_>, set: SelectorSetKind) -> Read<Selector<Written>> {
    if set == SelectorSetKind::Construct {
        return construct_selector(r);
    }
    let name = r.any_word("a selector")?;
    if !r.p.at(TokenKind::LParen) {
        return Ok(Selector { name, score: None, properties: None });
    }
    let takes_expr = matches!(r.p.text(name), "condition" | "device_num");
    let (score, properties) = r.parens(|r| {
        let score = score(r)?;
        let properties = r.list(|r| if takes_expr { expression(r) } else { property(r) })?;
        Ok((score, properties))
    })?;
    Ok(Selector { name, score, properties: Some(properties) })
}

fn construct_selector(r: &mut Reader<'_, '_>) -> Read<Selector<Written>> {
    let heading = r.construct_name()?;
    let name = r.p.intern(&heading.name());
    let heading = properties_of(heading);
    if !r.p.at(TokenKind::LParen) {
        return Ok(Selector { name, score: None, properties: None });
    }
    let (score, properties) = r.parens(|r| {
        let score = score(r)?;
        let clause =
            |r: &mut Reader<'_, '_>| r.clause_of(&heading).map(|it| Property::Clause(Box::new(it)));
        let mut properties = vec![clause(r)?];
        while !r.p.at(TokenKind::RParen) && !r.p.at_end() {
            r.p.eat(TokenKind::Comma);
            properties.push(clause(r)?);
        }
        Ok((score, properties))
    })?;
    Ok(Selector { name, score, properties: Some(properties) })
}

/// Whose clauses the properties of a construct selector are: those of `simd` say what kind of
/// function is called, like the clauses of `declare simd`.
fn properties_of(heading: Heading) -> Heading {
    if heading.leaves() == [Leaf::Simd] {
        return STANDARD.heading(&[Leaf::DeclareSimd]).unwrap_or(heading);
    }
    heading
}

/// `score(e):`, or nothing.
fn score(r: &mut Reader<'_, '_>) -> Read<Option<syntax::ast::ExprId>> {
    if r.word() != "score" || r.p.peek_at(1) != TokenKind::LParen || !r.colon_ahead() {
        return Ok(None);
    }
    r.p.bump();
    let score = r.parens(Reader::expr)?;
    r.expect(TokenKind::Colon)?;
    Ok(Some(score))
}

fn expression(r: &mut Reader<'_, '_>) -> Read<Property<Written>> {
    Ok(Property::Expr(r.expr()?))
}

/// A word, a string, or `name(…)`.
fn property(r: &mut Reader<'_, '_>) -> Read<Property<Written>> {
    let Some(name) = r.p.word() else { return expression(r) };
    match r.p.peek_at(1) {
        TokenKind::LParen => {
            r.p.bump();
            let inner = r.parens(|r| r.list(property))?;
            Ok(Property::Nested(name, inner))
        }
        TokenKind::Comma | TokenKind::RParen => {
            r.p.bump();
            Ok(Property::Name(name))
        }
        _ => expression(r),
    }
}

fn write_sets(sets: &[SelectorSet<Spelled>]) -> Option<String> {
    let one = |it: &SelectorSet<Spelled>| {
        let selectors: Vec<String> =
            it.selectors.iter().map(write_selector).collect::<Option<_>>()?;
        Some(format!("{}={{{}}}", SETS.word(&it.set)?, selectors.join(", ")))
    };
    Some(sets.iter().map(one).collect::<Option<Vec<_>>>()?.join(", "))
}

fn write_selector(it: &Selector<Spelled>) -> Option<String> {
    let Some(properties) = &it.properties else { return Some(it.name.clone()) };
    let score = it.score.as_ref().map(|it| format!("score({it}): ")).unwrap_or_default();
    let write = |property: &Property<Spelled>| write_property(property, &it.name);
    let properties: Vec<String> = properties.iter().map(write).collect::<Option<_>>()?;
    Some(format!("{}({score}{})", it.name, properties.join(", ")))
}

fn write_property(property: &Property<Spelled>, selector: &str) -> Option<String> {
    match property {
        Property::Name(name) => Some(name.clone()),
        Property::Expr(expr) => Some(expr.clone()),
        Property::Clause(clause) => {
            let heading = properties_of(Heading { rows: STANDARD.rows_named(selector)? });
            let allowed = heading.clauses(&STANDARD);
            write_clause(clause, &heading, &allowed, &STANDARD).ok()
        }
        Property::Nested(name, list) => {
            let list: Vec<String> =
                list.iter().map(|it| write_property(it, selector)).collect::<Option<_>>()?;
            Some(format!("{name}({})", list.join(", ")))
        }
    }
}

/// `match(device={…})`
pub(super) fn read_match(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Match(selector_sets(r)?))
}

pub(super) fn write_match(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Match(sets) = kind else { return None };
    Some(format!("({})", write_sets(sets)?))
}

// ---------------------------------------------------------------- chosen directives

/// `when(device={…}: directive)`
pub(super) fn read_when(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let sets = selector_sets(r)?;
    r.expect(TokenKind::Colon)?;
    Ok(ClauseKind::When(sets, chosen(r)?))
}

/// A directive, or nothing.
fn chosen(r: &mut Reader<'_, '_>) -> Read<Option<Box<ir::construct::Construct<Written>>>> {
    if r.p.at(TokenKind::RParen) {
        return Ok(None);
    }
    Ok(Some(Box::new(r.nested_directive()?)))
}

pub(super) fn write_when(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::When(sets, chosen) = kind else { return None };
    let chosen = match chosen {
        Some(it) => directive(it, &STANDARD).ok()?,
        None => String::new(),
    };
    Some(format!("({}: {chosen})", write_sets(sets)?))
}

/// `otherwise(directive)`
pub(super) fn read_otherwise(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Otherwise { old_word: false, directive: chosen(r)? })
}

/// `default(directive)` of `metadirective`
pub(super) fn read_otherwise_old(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Otherwise { old_word: true, directive: chosen(r)? })
}

pub(super) fn write_otherwise(kind: &ClauseKind<Spelled>) -> Option<String> {
    write_chosen(kind, false)
}

pub(super) fn write_otherwise_old(kind: &ClauseKind<Spelled>) -> Option<String> {
    write_chosen(kind, true)
}

fn write_chosen(kind: &ClauseKind<Spelled>, old: bool) -> Option<String> {
    let ClauseKind::Otherwise { old_word, directive: chosen } = kind else { return None };
    if *old_word != old {
        return None;
    }
    match chosen {
        Some(it) => Some(format!("({})", directive(it, &STANDARD).ok()?)),
        None => Some("()".to_owned()),
    }
}

/// `absent(parallel, target data)`
pub(super) fn directive_names(r: &mut Reader<'_, '_>) -> Read<Vec<Vec<Leaf>>> {
    r.list(|r| Ok(r.construct_name()?.leaves()))
}

pub(super) fn write_directive_names(names: &[Vec<Leaf>]) -> String {
    let names: Vec<String> = names.iter().map(|it| leaves_name(it, STANDARD.dialect)).collect();
    list(&names)
}

// ---------------------------------------------------------------- arguments of variants

/// `adjust_args(need_device_ptr: a, b)`
pub(super) fn read_adjust_args(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let op = r.choice(&ADJUSTMENTS)?;
    r.expect(TokenKind::Colon)?;
    Ok(ClauseKind::AdjustArgs(op, r.items()?))
}

pub(super) fn write_adjust_args(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::AdjustArgs(op, items) = kind else { return None };
    Some(prefixed(&[ADJUSTMENTS.word(op)?.to_owned()], items))
}

/// `append_args(interop(target), interop(targetsync))`
pub(super) fn read_append_args(r: &mut Reader<'_, '_>) -> Read<Kind> {
    const OPERATIONS: Choices<()> = Choices { what: "an operation", words: &[("interop", ())] };
    let args = r.list(|r| {
        r.choice(&OPERATIONS)?;
        r.parens(|r| {
            let mut init = nothing();
            loop {
                init_modifier(r, &mut init)?;
                if !r.p.eat(TokenKind::Comma) {
                    return Ok(init);
                }
            }
        })
    })?;
    Ok(ClauseKind::AppendArgs(args))
}

pub(super) fn write_append_args(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::AppendArgs(args) = kind else { return None };
    let one =
        |it: &InteropInit<Spelled>| Some(format!("interop({})", write_init_words(it)?.join(", ")));
    Some(list(&args.iter().map(one).collect::<Option<Vec<_>>>()?))
}

fn nothing() -> InteropInit<Written> {
    InteropInit { target: false, targetsync: false, prefer: None, depend: None }
}

const INIT_WORDS: &[&str] = &["target", "targetsync", "prefer_type"];

fn init_modifier(r: &mut Reader<'_, '_>, init: &mut InteropInit<Written>) -> Read<()> {
    if r.at_choice(&DEPENDS) && r.p.peek_at(1) == TokenKind::LParen {
        let kind: DependKind = r.choice(&DEPENDS)?;
        init.depend = Some((kind, r.parens(Reader::items)?));
    } else if r.eat_word("target") {
        init.target = true;
    } else if r.eat_word("targetsync") {
        init.targetsync = true;
    } else if r.eat_word("prefer_type") {
        init.prefer = Some(r.parens(|r| r.list(preferred))?);
    } else {
        return Err(r.unknown_modifier(INIT_WORDS));
    }
    Ok(())
}

/// `"cuda"`, `omp_ifr_cuda`, or `{fr("cuda"), attr("ompx_x")}`
fn preferred(r: &mut Reader<'_, '_>) -> Read<PreferredRuntime<Written>> {
    if !r.p.eat(TokenKind::LBrace) {
        return Ok(PreferredRuntime::Id(r.expr()?));
    }
    let (mut id, mut attrs) = (None, Vec::new());
    loop {
        if r.eat_word("fr") {
            id = Some(r.parens(Reader::expr)?);
        } else if r.eat_word("attr") {
            attrs.extend(r.parens(Reader::exprs)?);
        } else {
            return Err(r.unknown_modifier(&["fr", "attr"]));
        }
        if !r.p.eat(TokenKind::Comma) {
            break;
        }
    }
    r.expect(TokenKind::RBrace)?;
    Ok(PreferredRuntime::Described { id, attrs })
}

fn write_preferred(it: &PreferredRuntime<Spelled>) -> String {
    match it {
        PreferredRuntime::Id(id) => id.clone(),
        PreferredRuntime::Described { id, attrs } => {
            let mut parts: Vec<String> = Vec::new();
            parts.extend(id.as_ref().map(|it| format!("fr({it})")));
            parts.extend((!attrs.is_empty()).then(|| format!("attr({})", attrs.join(", "))));
            format!("{{{}}}", parts.join(", "))
        }
    }
}

fn write_init_words(init: &InteropInit<Spelled>) -> Option<Vec<String>> {
    let mut words = Vec::new();
    if let Some((kind, items)) = &init.depend {
        words.push(format!("{}{}", DEPENDS.word(kind)?, list(items)));
    }
    words.extend(init.prefer.as_ref().map(|it| {
        format!("prefer_type({})", it.iter().map(write_preferred).collect::<Vec<_>>().join(", "))
    }));
    words.extend(init.target.then(|| "target".to_owned()));
    words.extend(init.targetsync.then(|| "targetsync".to_owned()));
    Some(words)
}

/// `init(prefer_type("cuda"), targetsync: object)`
pub(super) fn read_init(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut init = nothing();
    r.modifiers(|r| init_modifier(r, &mut init))?;
    Ok(ClauseKind::InteropInit(init, r.item()?))
}

pub(super) fn write_init(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::InteropInit(init, object) = kind else { return None };
    Some(prefixed(&write_init_words(init)?, std::slice::from_ref(object)))
}
