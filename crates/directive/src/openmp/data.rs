//! Clauses about data on devices and about storage: `map`, `to`, `from`, `allocate`, ….

use ir::construct::{
    Allocate, AllocatorUse, AttachMode, Category, ClauseKind, DefaultMap, DefaultSharing,
    DeviceKind, IteratorVar, Map, MapFlags, Motion, Presence, RefPart, Spelled, Transfer,
};
use syntax::TokenKind;

use super::words::{list, prefixed};
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::Choices;

type Kind = ClauseKind<Written>;

const MOTIONS: Choices<Motion> = Choices {
    what: "a map type",
    words: &[
        ("alloc", Motion::Alloc),
        ("storage", Motion::Alloc),
        ("to", Motion::To),
        ("from", Motion::From),
        ("tofrom", Motion::ToFrom),
        ("release", Motion::Release),
        ("delete", Motion::Delete),
    ],
};

const ATTACH: Choices<AttachMode> = Choices {
    what: "an attach mode",
    words: &[
        ("always", AttachMode::Always),
        ("never", AttachMode::Never),
        ("auto", AttachMode::Auto),
    ],
};

const REFERENCES: Choices<RefPart> = Choices {
    what: "a part of a reference",
    words: &[
        ("ref_ptr", RefPart::Pointer),
        ("ref_ptee", RefPart::Pointee),
        ("ref_ptr_ptee", RefPart::Both),
    ],
};

pub(super) const DEVICE_KINDS: Choices<DeviceKind> = Choices {
    what: "a device kind",
    words: &[("host", DeviceKind::Host), ("nohost", DeviceKind::Nohost), ("any", DeviceKind::Any)],
};

const DEFAULT_MAPS: Choices<DefaultMap> = Choices {
    what: "an implicit behaviour",
    words: &[
        ("alloc", DefaultMap::Alloc),
        ("storage", DefaultMap::Alloc),
        ("to", DefaultMap::To),
        ("from", DefaultMap::From),
        ("tofrom", DefaultMap::ToFrom),
        ("firstprivate", DefaultMap::FirstPrivate),
        ("private", DefaultMap::Private),
        ("present", DefaultMap::Present),
        ("self", DefaultMap::SelfMap),
        ("none", DefaultMap::None),
        ("default", DefaultMap::Default),
    ],
};

const DEFAULTS: Choices<DefaultSharing> = Choices {
    what: "a data-sharing attribute",
    words: &[
        ("shared", DefaultSharing::Shared),
        ("none", DefaultSharing::None),
        ("private", DefaultSharing::Private),
        ("firstprivate", DefaultSharing::FirstPrivate),
    ],
};

const CATEGORIES: Choices<Category> = Choices {
    what: "a variable category",
    words: &[
        ("scalar", Category::Scalar),
        ("aggregate", Category::Aggregate),
        ("pointer", Category::Pointer),
        ("allocatable", Category::Allocatable),
        ("all", Category::All),
    ],
};

const MAP_WORDS: &[&str] = &[
    "always", "close", "present", "self", "mapper", "iterator", "attach", "alloc", "storage", "to",
    "from", "tofrom", "release", "delete",
];

/// `map(always, close, present, mapper(id), iterator(…), to: items)`
pub(super) fn read_map(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut map = Map {
        motion: Motion::Unsaid,
        presence: Presence::Any,
        flags: MapFlags::default(),
        mapper: None,
        iterators: Vec::new(),
        items: Vec::new(),
    };
    r.modifiers(|r| map_modifier(r, &mut map))?;
    map.items = r.items()?;
    Ok(ClauseKind::Map(map))
}

fn map_modifier(r: &mut Reader<'_, '_>, map: &mut Map<Written>) -> Read<()> {
    if r.at_choice(&MOTIONS) {
        let place = r.p.span();
        let motion = r.choice(&MOTIONS)?;
        match (map.motion, motion) {
            (Motion::Unsaid, _) => map.motion = motion,
            // `release, delete:`: the second is a modifier of the first.
            (Motion::Delete, _) => (map.motion, map.flags.delete) = (motion, true),
            (_, Motion::Delete) => map.flags.delete = true,
            _ => {
                let fault = crate::messages::given_twice("the map type", "map", place);
                return Err(r.report(fault));
            }
        }
        return Ok(());
    }
    if r.at_choice(&REFERENCES) {
        map.flags.reference = Some(r.choice(&REFERENCES)?);
        return Ok(());
    }
    let flag = match r.word() {
        "always" => &mut map.flags.always,
        "close" => &mut map.flags.close,
        "self" => &mut map.flags.is_self,
        "ompx_hold" => &mut map.flags.hold,
        "present" => {
            r.p.bump();
            map.presence = Presence::Required;
            return Ok(());
        }
        "attach" => {
            r.p.bump();
            map.flags.attach = Some(r.parens(|r| r.choice(&ATTACH))?);
            return Ok(());
        }
        _ => return mapper_or_iterator(r, &mut map.mapper, &mut map.iterators, MAP_WORDS),
    };
    *flag = true;
    r.p.bump();
    Ok(())
}

fn mapper_or_iterator(
    r: &mut Reader<'_, '_>,
    mapper: &mut Option<source::Name>,
    iterators: &mut Vec<IteratorVar<Written>>,
    known: &[&str],
) -> Read<()> {
    if r.eat_word("mapper") {
        *mapper = Some(r.parens(|r| r.any_word("the mapper's name"))?);
    } else if r.eat_word("iterator") {
        iterators.extend(r.iterators()?);
    } else {
        return Err(r.unknown_modifier(known));
    }
    Ok(())
}

/// `iterator(int i = 0 : n : 2)`
pub(super) fn write_iterators(iterators: &[IteratorVar<Spelled>]) -> Option<String> {
    let one = |it: &IteratorVar<Spelled>| {
        let ty = it.ty.as_ref().map(|ty| format!("{ty} ")).unwrap_or_default();
        let step = it.step.as_ref().map(|step| format!(" : {step}")).unwrap_or_default();
        format!("{ty}{} = {} : {}{step}", it.name, it.begin, it.end)
    };
    let all: Vec<String> = iterators.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("iterator({})", all.join(", ")))
}

pub(super) fn write_map(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Map(map) = kind else { return None };
    let MapFlags {
        always,
        always_at,
        close,
        is_self,
        hold,
        readonly,
        zero,
        capture,
        attach,
        reference,
        delete,
        // What goes through a channel goes through memory as well.
        channel: _,
    } = map.flags;
    if readonly || zero || capture || always_at.is_some() || map.presence == Presence::Optional {
        return None;
    }
    let flags = [
        (always, "always"),
        (close, "close"),
        (is_self, "self"),
        (hold, "ompx_hold"),
        (map.presence == Presence::Required, "present"),
    ];
    let mut words: Vec<String> =
        flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()).collect();
    words.extend(attach.and_then(|it| Some(format!("attach({})", ATTACH.word(&it)?))));
    words.extend(reference.and_then(|it| REFERENCES.word(&it)).map(str::to_owned));
    words.extend(map.mapper.as_ref().map(|it| format!("mapper({it})")));
    words.extend(write_iterators(&map.iterators));
    words.extend(MOTIONS.word(&map.motion).map(str::to_owned));
    words.extend(delete.then(|| "delete".to_owned()));
    Some(prefixed(&words, &map.items))
}

/// `to(present, mapper(id): items)`
pub(super) fn read_to(r: &mut Reader<'_, '_>) -> Read<Kind> {
    transfer(r, true)
}

/// `from(…)`
pub(super) fn read_from(r: &mut Reader<'_, '_>) -> Read<Kind> {
    transfer(r, false)
}

fn transfer(r: &mut Reader<'_, '_>, to_device: bool) -> Read<Kind> {
    let (mut presence, mut mapper, mut iterators) = (Presence::Any, None, Vec::new());
    r.modifiers(|r| {
        if r.eat_word("present") {
            presence = Presence::Required;
            return Ok(());
        }
        mapper_or_iterator(r, &mut mapper, &mut iterators, &["present", "mapper", "iterator"])
    })?;
    let items = r.items()?;
    let old_word = false;
    Ok(ClauseKind::Transfer(Transfer { to_device, old_word, presence, mapper, iterators, items }))
}

pub(super) fn write_to(kind: &ClauseKind<Spelled>) -> Option<String> {
    write_transfer(kind, true)
}

pub(super) fn write_from(kind: &ClauseKind<Spelled>) -> Option<String> {
    write_transfer(kind, false)
}

fn write_transfer(kind: &ClauseKind<Spelled>, to_device: bool) -> Option<String> {
    let ClauseKind::Transfer(it) = kind else { return None };
    let mut words = Vec::new();
    match it.presence {
        Presence::Any => {}
        Presence::Required => words.push("present".to_owned()),
        Presence::Optional => return None,
    }
    words.extend(it.mapper.as_ref().map(|it| format!("mapper({it})")));
    words.extend(write_iterators(&it.iterators));
    (it.to_device == to_device).then(|| prefixed(&words, &it.items))
}

/// `enter(automap: items)`
pub(super) fn read_enter(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let automap = r.eat_word_colon("automap");
    Ok(ClauseKind::DeviceEnter { automap, old_word: false, items: r.items()? })
}

pub(super) fn write_enter(kind: &ClauseKind<Spelled>) -> Option<String> {
    match kind {
        ClauseKind::DeviceEnter { automap, old_word: false, items } => {
            let words = if *automap { vec!["automap".to_owned()] } else { Vec::new() };
            Some(prefixed(&words, items))
        }
        _ => None,
    }
}

/// `to(items)` of `declare target`
pub(super) fn read_enter_old(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::DeviceEnter { automap: false, old_word: true, items: r.items()? })
}

pub(super) fn write_enter_old(kind: &ClauseKind<Spelled>) -> Option<String> {
    match kind {
        ClauseKind::DeviceEnter { old_word: true, items, .. } => Some(list(items)),
        _ => None,
    }
}

/// `: category`, or nothing.
fn category(r: &mut Reader<'_, '_>) -> Read<Option<Category>> {
    if r.p.eat(TokenKind::Colon) { Ok(Some(r.choice(&CATEGORIES)?)) } else { Ok(None) }
}

fn write_category(category: Option<Category>) -> String {
    let word = category.and_then(|it| CATEGORIES.word(&it));
    word.map(|it| format!(": {it}")).unwrap_or_default()
}

/// `defaultmap(tofrom: scalar)`
pub(super) fn read_defaultmap(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::DefaultMap(r.choice(&DEFAULT_MAPS)?, category(r)?))
}

pub(super) fn write_defaultmap(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::DefaultMap(how, category) = kind else { return None };
    Some(format!("({}{})", DEFAULT_MAPS.word(how)?, write_category(*category)))
}

/// `default(none)`, `default(shared: scalar)`
pub(super) fn read_default(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::Default(r.choice(&DEFAULTS)?, category(r)?))
}

pub(super) fn write_default(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Default(how, category) = kind else { return None };
    Some(format!("({}{})", DEFAULTS.word(how)?, write_category(*category)))
}

/// `allocate(allocator(a), align(64): x)`, or `allocate(a: x)`
pub(super) fn read_allocate(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut it = Allocate { allocator: None, has_word: false, align: None, items: Vec::new() };
    r.modifiers(|r| {
        let has_argument = r.p.peek_at(1) == TokenKind::LParen;
        if has_argument && r.eat_word("align") {
            it.align = Some(r.parens(Reader::expr)?);
        } else if has_argument && r.eat_word("allocator") {
            it.allocator = Some(r.parens(Reader::expr)?);
            it.has_word = true;
        } else {
            it.allocator = Some(r.expr()?);
        }
        Ok(())
    })?;
    it.items = r.items()?;
    Ok(ClauseKind::Allocate(it))
}

pub(super) fn write_allocate(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Allocate(it) = kind else { return None };
    let mut words = Vec::new();
    words.extend(
        it.allocator
            .as_ref()
            .map(|expr| if it.has_word { format!("allocator({expr})") } else { expr.clone() }),
    );
    words.extend(it.align.as_ref().map(|expr| format!("align({expr})")));
    Some(prefixed(&words, &it.items))
}

/// `uses_allocators(a, b(traits))`, or `uses_allocators(memspace(s), traits(t): a; b)`
pub(super) fn read_uses_allocators(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let mut uses = Vec::new();
    loop {
        uses.push(allocator_use(r)?);
        if !r.p.eat(TokenKind::Comma) && !r.p.eat(TokenKind::Semicolon) {
            return Ok(ClauseKind::UsesAllocators(uses));
        }
    }
}

fn allocator_use(r: &mut Reader<'_, '_>) -> Read<AllocatorUse<Written>> {
    let (mut space, mut traits) = (None, None);
    while matches!(r.word(), "memspace" | "traits") && r.p.peek_at(1) == TokenKind::LParen {
        let into = if r.word() == "memspace" { &mut space } else { &mut traits };
        r.p.bump();
        *into = Some(r.parens(Reader::expr)?);
        if !r.p.eat(TokenKind::Comma) {
            r.expect(TokenKind::Colon)?;
            break;
        }
    }
    let name = r.ident("an allocator")?;
    let kind = syntax::ast::ExprKind::Name(name.name);
    let allocator = r.p.tree_mut().exprs.push(syntax::ast::Expr { kind, span: name.span });
    let old_form = r.p.at(TokenKind::LParen);
    if old_form {
        traits = Some(r.parens(Reader::expr)?);
    }
    Ok(AllocatorUse { allocator, space, traits, old_form })
}

pub(super) fn write_uses_allocators(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::UsesAllocators(uses) = kind else { return None };
    let one = |it: &AllocatorUse<Spelled>| {
        let traits = it.traits.as_ref();
        if it.old_form {
            let traits = traits.map(|it| format!("({it})")).unwrap_or_default();
            return format!("{}{traits}", it.allocator);
        }
        let mut words = Vec::new();
        words.extend(it.space.as_ref().map(|it| format!("memspace({it})")));
        words.extend(traits.map(|it| format!("traits({it})")));
        let colon = if words.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", words.join(", "), it.allocator)
    };
    let is_new =
        |it: &AllocatorUse<Spelled>| !it.old_form && (it.space.is_some() || it.traits.is_some());
    let separator = if uses.iter().any(is_new) { "; " } else { ", " };
    Some(format!("({})", uses.iter().map(one).collect::<Vec<_>>().join(separator)))
}
