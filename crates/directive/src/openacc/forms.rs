//! How the clauses of OpenACC that are more than a word, a list or an expression are read and
//! written. For each form the reader stands directly above its writer.

use ir::construct::{
    Channel, ClauseKind, CopyEnd, DefaultSharing, GangArg, LevelArg, Map, MapFlags, Motion,
    Presence, Reduction, ReductionOp, Spelled, Transfer, UseDevice, WaitArgs,
};
use syntax::TokenKind;

use crate::cursor::{Read, Reader};
use crate::{Written, messages};

type Kind = ClauseKind<Written>;

/// `(a, b)`
fn parens(list: &[String]) -> String {
    format!("({})", list.join(", "))
}

// ---------------------------------------------------------------- data

/// A modifier of a data clause: its word, and where it stands in the flags.
type Modifier = (&'static str, fn(&mut MapFlags));

const ALWAYS: Modifier = ("always", |flags| flags.always = true);
const ALWAYS_IN: Modifier = ("alwaysin", |flags| {
    (flags.always, flags.always_at) = (true, Some(CopyEnd::Start));
});
const ALWAYS_OUT: Modifier = ("alwaysout", |flags| {
    (flags.always, flags.always_at) = (true, Some(CopyEnd::End));
});
const ZERO: Modifier = ("zero", |flags| flags.zero = true);
const READONLY: Modifier = ("readonly", |flags| flags.readonly = true);
const CAPTURE: Modifier = ("capture", |flags| flags.capture = true);

/// The modifiers that the clause with this motion and presence takes.
fn modifiers_of(motion: Motion, presence: Presence) -> &'static [Modifier] {
    match (motion, presence) {
        (Motion::ToFrom, Presence::Any) => &[ALWAYS, ALWAYS_IN, ALWAYS_OUT, CAPTURE],
        (Motion::To, Presence::Any) => &[ALWAYS, ALWAYS_IN, READONLY, CAPTURE],
        (Motion::From, Presence::Any) => &[ALWAYS, ALWAYS_OUT, ZERO, CAPTURE],
        (Motion::Alloc, Presence::Any) => &[ZERO, CAPTURE],
        _ => &[],
    }
}

/// `copyin(readonly: a, b[0:n])`
pub(super) fn data(r: &mut Reader<'_, '_>, motion: Motion, presence: Presence) -> Read<Kind> {
    let known = modifiers_of(motion, presence);
    let mut flags = MapFlags::default();
    r.modifiers(|r| {
        let Some((_, set)) = known.iter().find(|(word, _)| *word == r.word()) else {
            let words: Vec<&str> = known.iter().map(|it| it.0).collect();
            return Err(r.unknown_modifier(&words));
        };
        set(&mut flags);
        r.p.bump();
        Ok(())
    })?;
    let items = r.items()?;
    Ok(Kind::Map(Map { motion, presence, flags, mapper: None, iterators: Vec::new(), items }))
}

pub(super) fn write_data(
    kind: &ClauseKind<Spelled>,
    motion: Motion,
    presence: Presence,
) -> Option<String> {
    let ClauseKind::Map(map) = kind else { return None };
    if map.motion != motion || map.presence != presence {
        return None;
    }
    if map.mapper.is_some() || !map.iterators.is_empty() {
        return None;
    }
    let words = modifier_words(map.flags, modifiers_of(motion, presence))?;
    let colon = if words.is_empty() { "" } else { ": " };
    Some(format!("({}{colon}{})", words.join(", "), map.items.join(", ")))
}

/// The words that say exactly these flags; nothing if no words do.
fn modifier_words(flags: MapFlags, known: &[Modifier]) -> Option<Vec<&'static str>> {
    let mut said = MapFlags::default();
    let mut words = Vec::new();
    for (word, set) in known {
        let mut with = said;
        set(&mut with);
        let wanted = with != said && covers(flags, with);
        if wanted {
            said = with;
            words.push(*word);
        }
    }
    (said == flags).then_some(words)
}

/// Whether all that `part` says is said by `flags` too.
fn covers(flags: MapFlags, part: MapFlags) -> bool {
    let always = !part.always || (flags.always && flags.always_at == part.always_at);
    always
        && (flags.zero || !part.zero)
        && (flags.readonly || !part.readonly)
        && (flags.capture || !part.capture)
}

pub(super) fn use_device(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(Kind::UseDevice(UseDevice::ByType, r.items()?))
}

pub(super) fn write_use_device(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::UseDevice(UseDevice::ByType, items) = kind else { return None };
    Some(parens(items))
}

/// Which words copy in which direction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Direction {
    to_device: bool,
    old_word: bool,
}

pub(super) const SELF: Direction = Direction { to_device: false, old_word: false };
pub(super) const OLD_SELF: Direction = Direction { to_device: false, old_word: true };
pub(super) const TO_DEVICE: Direction = Direction { to_device: true, old_word: false };

/// `device(a, b[0:n])` of an update
pub(super) fn transfer(r: &mut Reader<'_, '_>, direction: Direction) -> Read<Kind> {
    Ok(Kind::Transfer(Transfer {
        to_device: direction.to_device,
        old_word: direction.old_word,
        // The rules of the construct say what happens to absent data.
        presence: Presence::Any,
        mapper: None,
        iterators: Vec::new(),
        items: r.items()?,
    }))
}

pub(super) fn write_transfer(kind: &ClauseKind<Spelled>, direction: Direction) -> Option<String> {
    let ClauseKind::Transfer(it) = kind else { return None };
    let is_plain = it.presence == Presence::Any && it.mapper.is_none() && it.iterators.is_empty();
    let fits = direction == Direction { to_device: it.to_device, old_word: it.old_word };
    (is_plain && fits).then(|| parens(&it.items))
}

const DEFAULTS: &[(&str, DefaultSharing)] =
    &[("none", DefaultSharing::None), ("present", DefaultSharing::Present)];

/// `default(none)`
pub(super) fn default(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let Some((_, sharing)) = DEFAULTS.iter().find(|(word, _)| *word == r.word()) else {
        let known: Vec<&str> = DEFAULTS.iter().map(|it| it.0).collect();
        return Err(r.unknown_modifier(&known));
    };
    r.p.bump();
    Ok(Kind::Default(*sharing, None))
}

pub(super) fn write_default(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Default(sharing, None) = kind else { return None };
    let (word, _) = DEFAULTS.iter().find(|(_, it)| it == sharing)?;
    Some(format!("({word})"))
}

pub(super) fn firstprivate(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(Kind::FirstPrivate { saved: false, items: r.items()? })
}

pub(super) fn write_firstprivate(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::FirstPrivate { saved: false, items } = kind else { return None };
    Some(parens(items))
}

// ---------------------------------------------------------------- where and when

/// `devnum: d : queues: a, b`
pub(super) fn queues(r: &mut Reader<'_, '_>) -> Read<WaitArgs<Written>> {
    let device = if r.eat_word_colon("devnum") {
        let device = r.expr()?;
        r.expect(TokenKind::Colon)?;
        Some(device)
    } else {
        None
    };
    let has_queues_word = r.eat_word_colon("queues");
    Ok(WaitArgs { device, has_queues_word, queues: r.exprs()? })
}

pub(super) fn queues_text(wait: &WaitArgs<Spelled>) -> String {
    let device = wait.device.as_ref().map(|it| format!("devnum: {it} : ")).unwrap_or_default();
    let word = if wait.has_queues_word { "queues: " } else { "" };
    format!("({device}{word}{})", wait.queues.join(", "))
}

pub(super) fn write_wait(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Wait(wait) = kind else { return None };
    Some(wait.as_ref().map(queues_text).unwrap_or_default())
}

/// `nvidia, host` or `*`. Names of device types are the same in any case.
pub(super) fn device_types(r: &mut Reader<'_, '_>) -> Read<Kind> {
    if r.p.eat(TokenKind::Star) {
        return Ok(Kind::DeviceTypes(Vec::new()));
    }
    let types = r.list(|r| {
        let name = r.any_word("a device type or `*`")?;
        let lower = r.p.text(name).to_ascii_lowercase();
        Ok(r.p.intern(&lower))
    })?;
    Ok(Kind::DeviceTypes(types))
}

pub(super) fn write_device_types(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::DeviceTypes(types) = kind else { return None };
    Some(if types.is_empty() { "(*)".to_owned() } else { parens(types) })
}

// ---------------------------------------------------------------- how many, which level

/// There are at most three dimensions of teams.
const MAX_DIMENSIONS: usize = 3;

/// `num_gangs(a, b, c)`
pub(super) fn num_gangs(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let start = r.p.span();
    let counts = r.exprs()?;
    if counts.len() > MAX_DIMENSIONS {
        let place = start.to(r.p.prev_span());
        return Err(r.report(messages::too_many_arguments(&r.what, MAX_DIMENSIONS, place)));
    }
    Ok(Kind::NumTeams { lower: None, counts })
}

pub(super) fn write_num_gangs(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::NumTeams { lower: None, counts } = kind else { return None };
    (1..=MAX_DIMENSIONS).contains(&counts.len()).then(|| parens(counts))
}

/// `gang(num: a, dim: b, static: c)`; each at most once.
pub(super) fn gang(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut args: Vec<GangArg<Written>> = Vec::new();
    loop {
        let start = r.p.span();
        let arg = gang_arg(r)?;
        let is_same =
            |it: &GangArg<Written>| std::mem::discriminant(it) == std::mem::discriminant(&arg);
        if args.iter().any(is_same) {
            let place = start.to(r.p.prev_span());
            let what = gang_word(&arg);
            return Err(r.report(messages::given_twice(&format!("`{what}`"), &r.what, place)));
        }
        args.push(arg);
        if !r.p.eat(TokenKind::Comma) {
            return Ok(Kind::Gang(args));
        }
    }
}

fn gang_word<P: ir::construct::Phase>(arg: &GangArg<P>) -> &'static str {
    match arg {
        GangArg::Num(..) => "num",
        GangArg::Dim(_) => "dim",
        GangArg::Static(_) => "static",
    }
}

fn gang_arg(r: &mut Reader<'_, '_>) -> Read<GangArg<Written>> {
    if r.eat_word_colon("num") {
        Ok(GangArg::Num(r.expr()?, true))
    } else if r.eat_word_colon("dim") {
        Ok(GangArg::Dim(r.expr()?))
    } else if r.eat_word_colon("static") {
        Ok(GangArg::Static(size_or_star(r)?))
    } else if !r.word().is_empty() && r.p.peek_at(1) == TokenKind::Colon {
        Err(r.unknown_modifier(&["num", "dim", "static"]))
    } else {
        Ok(GangArg::Num(r.expr()?, false))
    }
}

/// `*` or an expression
fn size_or_star(r: &mut Reader<'_, '_>) -> Read<Option<syntax::ast::ExprId>> {
    let is_alone = matches!(r.p.peek_at(1), TokenKind::Comma | TokenKind::RParen);
    if r.p.at(TokenKind::Star) && is_alone {
        r.p.bump();
        return Ok(None);
    }
    r.expr().map(Some)
}

fn star_text(size: &Option<String>) -> &str {
    size.as_deref().unwrap_or("*")
}

/// `gang(dim: n)` of a function
pub(super) fn routine_gang(r: &mut Reader<'_, '_>) -> Read<Kind> {
    if !r.eat_word_colon("dim") {
        return Err(r.expected("`dim:`"));
    }
    Ok(Kind::Gang(vec![GangArg::Dim(r.expr()?)]))
}

pub(super) fn write_gang(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Gang(args) = kind else { return None };
    let texts: Vec<String> = args
        .iter()
        .map(|it| match it {
            GangArg::Num(count, false) => count.clone(),
            GangArg::Num(value, true) | GangArg::Dim(value) => {
                format!("{}: {value}", gang_word(it))
            }
            GangArg::Static(size) => format!("static: {}", star_text(size)),
        })
        .collect();
    Some(if texts.is_empty() { String::new() } else { parens(&texts) })
}

/// `num: n` of a worker clause, `length: n` of a vector clause
pub(super) fn level(r: &mut Reader<'_, '_>, word: &str) -> Read<LevelArg<Written>> {
    let has_word = r.eat_word_colon(word);
    if !r.word().is_empty() && r.p.peek_at(1) == TokenKind::Colon {
        return Err(r.unknown_modifier(&[word]));
    }
    Ok(LevelArg { count: r.expr()?, has_word })
}

fn level_text(arg: Option<&LevelArg<Spelled>>, word: &str) -> String {
    match arg {
        None => String::new(),
        Some(LevelArg { count, has_word: true }) => format!("({word}: {count})"),
        Some(LevelArg { count, has_word: false }) => format!("({count})"),
    }
}

pub(super) fn write_worker(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Worker(arg) = kind else { return None };
    Some(level_text(arg.as_ref(), "num"))
}

pub(super) fn write_vector(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Vector(arg) = kind else { return None };
    Some(level_text(arg.as_ref(), "length"))
}

// ---------------------------------------------------------------- loops

/// `collapse(force: n)`
pub(super) fn collapse(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let force = r.eat_word_colon("force");
    if !r.word().is_empty() && r.p.peek_at(1) == TokenKind::Colon {
        return Err(r.unknown_modifier(&["force"]));
    }
    Ok(Kind::Collapse { force, count: r.expr()? })
}

pub(super) fn write_collapse(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Collapse { force, count } = kind else { return None };
    Some(format!("({}{count})", if *force { "force: " } else { "" }))
}

/// `tile(8, *)`
pub(super) fn tile(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(Kind::TileLoop(r.list(size_or_star)?))
}

pub(super) fn write_tile(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::TileLoop(sizes) = kind else { return None };
    let sizes: Vec<&str> = sizes.iter().map(star_text).collect();
    Some(format!("({})", sizes.join(", ")))
}

/// An operator of a reduction.
struct Operator {
    text: &'static str,
    token: TokenKind,
    read: fn() -> ReductionOp<Written>,
    written: fn() -> ReductionOp<Spelled>,
}

macro_rules! operators {
    ($($text:literal $token:ident $op:ident)*) => {
        &[$(Operator {
            text: $text,
            token: TokenKind::$token,
            read: || ReductionOp::$op,
            written: || ReductionOp::$op,
        }),*]
    };
}

/// `-` is not in the standard; compilers take it for `+`, and programs use it.
const OPERATORS: &[Operator] = operators! {
    "+" Plus Add
    "-" Minus Sub
    "*" Star Mul
    "&" Amp BitAnd
    "|" Pipe BitOr
    "^" Caret BitXor
    "&&" AmpAmp And
    "||" PipePipe Or
    "max" Ident Max
    "min" Ident Min
};

/// `reduction(+: a, b)`
pub(super) fn reduction(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let token = r.p.peek();
    let is_it =
        |it: &&Operator| it.token == token && (token != TokenKind::Ident || it.text == r.word());
    let Some(operator) = OPERATORS.iter().find(is_it) else {
        let known: Vec<&str> = OPERATORS.iter().map(|it| it.text).collect();
        let found = r.found();
        let fault = messages::unknown_operator(&found, &known, r.p.span(), &r.what);
        return Err(r.report(fault));
    };
    r.p.bump();
    r.expect(TokenKind::Colon)?;
    let op = (operator.read)();
    Ok(Kind::Reduction(Reduction { modifier: None, original: None, op, items: r.items()? }))
}

pub(super) fn write_reduction(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Reduction(Reduction { modifier: None, original: None, op, items }) = kind
    else {
        return None;
    };
    let operator = OPERATORS.iter().find(|it| (it.written)() == *op)?;
    Some(format!("({}: {})", operator.text, items.join(", ")))
}

// ---------------------------------------------------------------- functions, channels

/// `bind(name)` or `bind("name")`
pub(super) fn bind(r: &mut Reader<'_, '_>) -> Read<Kind> {
    if !matches!(r.p.peek(), TokenKind::Ident | TokenKind::Str) {
        return Err(r.expected("a name or a string"));
    }
    Ok(Kind::BindName(r.expr()?))
}

pub(super) fn write_bind(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::BindName(name) = kind else { return None };
    Some(format!("({name})"))
}

/// A channel is an array on the device; those who use it find it there.
fn channel_map(channel: Channel) -> (Presence, MapFlags) {
    let presence = match channel {
        Channel::Own => Presence::Any,
        Channel::In | Channel::Out => Presence::Required,
    };
    (presence, MapFlags { channel: Some(channel), ..MapFlags::default() })
}

pub(super) fn channel(r: &mut Reader<'_, '_>, channel: Channel) -> Read<Kind> {
    let items = r.items()?;
    let (presence, flags) = channel_map(channel);
    let (motion, mapper, iterators) = (Motion::Alloc, None, Vec::new());
    Ok(Kind::Map(Map { motion, presence, flags, mapper, iterators, items }))
}

pub(super) fn write_channel(kind: &ClauseKind<Spelled>, channel: Channel) -> Option<String> {
    let ClauseKind::Map(map) = kind else { return None };
    let is_it = (map.presence, map.flags) == channel_map(channel) && map.motion == Motion::Alloc;
    (is_it && map.mapper.is_none() && map.iterators.is_empty()).then(|| parens(&map.items))
}
