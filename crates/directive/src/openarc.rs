//! OpenARC's directives: hints for the next loop or region that the standards do not have.
//!
//! They are read like any standard, by a table of directives and one of clauses; the clauses are
//! kept as extensions, by name. Not here: the channel clauses `pipe`, `pipein` and `pipeout`, which
//! stand on OpenACC directives ([`crate::openacc`]).

use ir::construct::{Args, ClauseKind, Leaf, Rules, Spelled};
use syntax::TokenKind;
use syntax::ast::ExprId;
use syntax::pragma::Shape;

use crate::cursor::{Read, Reader};
use crate::table::ReadClause::{Args as Parens, Own};
use crate::table::{ArgsRow, ClauseRow, DIRECTIVE, DirectiveRow, ShapeRule, Standard, clauses};
use crate::{OPENARC, Written};

/// OpenARC.
pub(crate) static STANDARD: Standard = Standard {
    dialect: OPENARC,
    name: "OpenARC",
    sentinel: "openarc",
    directives: &[&TRANSFORM, &OPENCL, &CUDA, &DEFINE],
    clauses: ALL,
    underscores_join: false,
    names_part: |_, _| false,
    extension_prefix: None,
    forbids: |_, _| None,
    rules: |_| Rules::NONE,
};

/// Changes to the loop or the arrays of what follows.
static TRANSFORM: DirectiveRow = DirectiveRow {
    words: &["transform"],
    leaves: &[Leaf::Transform],
    clauses: &[TRANSFORMS],
    required: &[TRANSFORMS],
    ..DIRECTIVE
};

/// Hardware for the kernel that follows.
static OPENCL: DirectiveRow = DirectiveRow {
    words: &["opencl"],
    leaves: &[Leaf::Resources],
    clauses: &[RESOURCES],
    required: &[RESOURCES],
    ..DIRECTIVE
};

/// Memories for the variables of the kernel that follows.
static CUDA: DirectiveRow = DirectiveRow {
    words: &["cuda"],
    leaves: &[Leaf::Memories],
    clauses: &[MEMORIES],
    required: &[MEMORIES],
    ..DIRECTIVE
};

/// A macro for directives.
static DEFINE: DirectiveRow = DirectiveRow {
    words: &["#define"],
    leaves: &[Leaf::Define],
    shape: ShapeRule::Is(Shape::Standalone),
    args: Some(DEFINITION),
    ..DIRECTIVE
};

const TRANSFORMS: &[&ClauseRow] = &[
    &WINDOW,
    &PERMUTE,
    &UNROLL,
    &NO_REDUCTION_UNROLL,
    &NO_LOOP_COLLAPSE,
    &NO_LOOP_SWAP,
    &TRANSPOSE,
    &REDIM,
    &EXPAND,
    &REDIM_TRANSPOSE,
    &EXPAND_TRANSPOSE,
    &TRANSPOSE_EXPAND,
];

const RESOURCES: &[&ClauseRow] = &[&NUM_SIMD_WORK_ITEMS, &NUM_COMPUTE_UNITS];

const MEMORIES: &[&ClauseRow] = &[
    &REGISTER_RO,
    &REGISTER_RW,
    &NO_REGISTER,
    &SHARED_RO,
    &SHARED_RW,
    &NO_SHARED,
    &TEXTURE,
    &NO_TEXTURE,
    &CONSTANT,
    &NO_CONSTANT,
    &GLOBAL,
];

clauses! {
    /// What the loop reads and writes, for a sliding window.
    WINDOW "window" Once, custom(
        Parens(window), |kind| written(kind, "window"), ["a[0:8], b[0:8]"]);
    PERMUTE "permute" Once, custom(Parens(list), |kind| written(kind, "permute"), ["$l"]);
    UNROLL "unroll" Once, custom(Parens(count), |kind| written(kind, "unroll"), ["$e"]);
    NO_REDUCTION_UNROLL "noreductionunroll" Once, custom(
        Own(maybe_list), |kind| written(kind, "noreductionunroll"), ["", "$l"]);
    NO_LOOP_COLLAPSE "noloopcollapse" Once, custom(
        Own(word), |kind| written(kind, "noloopcollapse"), [""]);
    NO_LOOP_SWAP "noploopswap" Once, custom(
        Own(word), |kind| written(kind, "noploopswap"), [""]);
    TRANSPOSE "transpose" Any, custom(Parens(list), |kind| written(kind, "transpose"), ["$l"]);
    REDIM "redim" Any, custom(Parens(list), |kind| written(kind, "redim"), ["$l"]);
    EXPAND "expand" Any, custom(Parens(list), |kind| written(kind, "expand"), ["$l"]);
    REDIM_TRANSPOSE "redim_transpose" Any, custom(
        Parens(list), |kind| written(kind, "redim_transpose"), ["$l"]);
    EXPAND_TRANSPOSE "expand_transpose" Any, custom(
        Parens(list), |kind| written(kind, "expand_transpose"), ["$l"]);
    TRANSPOSE_EXPAND "transpose_expand" Any, custom(
        Parens(list), |kind| written(kind, "transpose_expand"), ["$l"]);
    REGISTER_RO "registerRO" Any, custom(Parens(list), |kind| written(kind, "registerRO"), ["$l"]);
    REGISTER_RW "registerRW" Any, custom(Parens(list), |kind| written(kind, "registerRW"), ["$l"]);
    NO_REGISTER "noregister" Any, custom(Parens(list), |kind| written(kind, "noregister"), ["$l"]);
    SHARED_RO "sharedRO" Any, custom(Parens(list), |kind| written(kind, "sharedRO"), ["$l"]);
    SHARED_RW "sharedRW" Any, custom(Parens(list), |kind| written(kind, "sharedRW"), ["$l"]);
    NO_SHARED "noshared" Any, custom(Parens(list), |kind| written(kind, "noshared"), ["$l"]);
    TEXTURE "texture" Any, custom(Parens(list), |kind| written(kind, "texture"), ["$l"]);
    NO_TEXTURE "notexture" Any, custom(Parens(list), |kind| written(kind, "notexture"), ["$l"]);
    CONSTANT "constant" Any, custom(Parens(list), |kind| written(kind, "constant"), ["$l"]);
    NO_CONSTANT "noconstant" Any, custom(Parens(list), |kind| written(kind, "noconstant"), ["$l"]);
    GLOBAL "global" Any, custom(Parens(list), |kind| written(kind, "global"), ["$l"]);
    NUM_SIMD_WORK_ITEMS "num_simd_work_items" Once, custom(
        Parens(count), |kind| written(kind, "num_simd_work_items"), ["$e"]);
    NUM_COMPUTE_UNITS "num_compute_units" Once, custom(
        Parens(count), |kind| written(kind, "num_compute_units"), ["$e"]);
}

type Kind = ClauseKind<Written>;

/// A clause kept under the word it was written with.
fn named(r: &mut Reader<'_, '_>, args: Option<Vec<ExprId>>) -> Kind {
    let word = r.what.clone();
    Kind::Extension(r.p.intern(&word), args)
}

fn written(kind: &ClauseKind<Spelled>, word: &str) -> Option<String> {
    let ClauseKind::Extension(name, args) = kind else { return None };
    let args = args.as_ref().map(|it| format!("({})", it.join(", "))).unwrap_or_default();
    (name == word).then_some(args)
}

fn word(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(named(r, None))
}

fn list(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let items = r.items()?;
    Ok(named(r, Some(items)))
}

fn maybe_list(r: &mut Reader<'_, '_>) -> Read<Kind> {
    if r.p.at(TokenKind::LParen) { r.parens(list) } else { word(r) }
}

fn count(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let count = r.expr()?;
    Ok(named(r, Some(vec![count])))
}

/// `window(in[lb:len], out[lb:len])`
fn window(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let input = r.item()?;
    if !r.p.eat(TokenKind::Comma) {
        return Err(r.expected("`,` and the array that is written"));
    }
    let output = r.item()?;
    Ok(named(r, Some(vec![input, output])))
}

/// `name value`: the rest of the line, kept as text with one blank between tokens.
const DEFINITION: ArgsRow = ArgsRow {
    read: |r| {
        if r.p.word().is_none() {
            return Err(r.expected("the name of a macro"));
        }
        let mut tokens: Vec<String> = Vec::new();
        while !r.p.at_end() {
            let text = match r.p.spelling() {
                Some(name) => r.p.text(name).to_owned(),
                None => r.p.peek().describe().trim_matches('`').to_owned(),
            };
            tokens.push(text);
            r.p.bump();
        }
        Ok(Args::Text(r.p.intern(&tokens.join(" "))))
    },
    write: |args| {
        let Args::Text(text) = args else { return None };
        Some(format!(" {text}"))
    },
    samples: &[" N 4", " WIDTH ( 2 * N )", " FLAG"],
};
