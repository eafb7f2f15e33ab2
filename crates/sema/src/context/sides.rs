//! Which functions may run on devices, and whether also on the host.
//!
//! In: a program whose bodies are read. Out: the functions that device regions or declarations make
//! run on devices, with all that those mention: who is mentioned may be called.

use ir::construct::{Args, ClauseKind, DeviceKind, Leaf};
use ir::program::{ExprKind, FunctionId, Program, StmtId};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Name;

/// Where a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// On the host.
    Host,
    /// On devices.
    Device,
    /// It may be called on either side.
    Both,
}

impl crate::Cx<'_> {
    /// Where functions run that have asked; empty if all of them run on the host.
    pub(crate) fn sides_asked_for(&self) -> FxHashMap<Name, Side> {
        if self.asks_for_side.is_empty() {
            return FxHashMap::default();
        }
        let sides = of(&self.program);
        let named = sides.iter().map(|(id, side)| (self.program.functions[*id].name, *side));
        named.filter(|it| self.asks_for_side.contains(&it.0)).collect()
    }
}

/// The functions that may run on devices; all others run on the host.
pub(crate) fn of(program: &Program) -> FxHashMap<FunctionId, Side> {
    let mut sides: FxHashMap<FunctionId, Side> = FxHashMap::default();
    let mut open = Vec::new();
    for declaration in &program.declarations {
        let construct = &declaration.construct;
        let is_for_devices = [Leaf::DeclareTarget, Leaf::BeginDeclareTarget, Leaf::Routine]
            .iter()
            .any(|it| construct.has(*it));
        let kind = construct.kinds().find_map(|it| match it {
            ClauseKind::DeviceKind(kind) => Some(*kind),
            ClauseKind::Nohost => Some(DeviceKind::Nohost),
            _ => None,
        });
        if !is_for_devices || kind == Some(DeviceKind::Host) {
            continue;
        }
        // One that stays away from the host may still be called there, as its own fallback.
        open.extend(&declaration.functions);
    }
    let mentioned: FxHashMap<FunctionId, Mentions> = program
        .functions
        .iter()
        .filter_map(|(id, it)| Some((id, mentions(program, it.body?))))
        .collect();
    open.extend(mentioned.values().flat_map(|it| &it.on_device));
    let replacements = replacements(program);
    while let Some(function) = open.pop() {
        if sides.insert(function, Side::Both).is_some() {
            continue;
        }
        open.extend(mentioned.get(&function).iter().flat_map(|it| &it.all));
        open.extend(replacements.get(&function).into_iter().flatten());
    }
    sides
}

/// Functions that stand in a body.
struct Mentions {
    all: FxHashSet<FunctionId>,
    /// Those of them in a region that runs on a device.
    on_device: FxHashSet<FunctionId>,
}

fn mentions(program: &Program, body: StmtId) -> Mentions {
    let mut found = Mentions { all: FxHashSet::default(), on_device: FxHashSet::default() };
    let mut open = vec![(Part::Stmt(body), false)];
    while let Some((part, on_device)) = open.pop() {
        let mut inside = on_device;
        match part {
            Part::Expr(id) => {
                if let Some(ExprKind::Function(function)) =
                    program.exprs.find(id).map(|it| &it.kind)
                {
                    found.all.insert(*function);
                    if on_device {
                        found.on_device.insert(*function);
                    }
                }
            }
            Part::Region(id) => {
                let construct = &program.regions[id].construct;
                inside |= construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
            }
            Part::Stmt(_) | Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push((it, inside)));
    }
    found
}

/// Functions that may be called instead of others.
fn replacements(program: &Program) -> FxHashMap<FunctionId, Vec<FunctionId>> {
    let mut by_name = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        by_name.entry(function.name).or_insert(id);
    }
    let mut found: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for declaration in &program.declarations {
        if let Args::Variant(named) = &declaration.construct.args
            && let Some(&variant) = by_name.get(&named.variant)
        {
            for base in &declaration.functions {
                found.entry(*base).or_default().push(variant);
            }
        }
        if declaration.construct.has(Leaf::BeginDeclareVariant) {
            for &variant in &declaration.functions {
                if let Some(base) = by_name.get(&program.functions[variant].name) {
                    found.entry(*base).or_default().push(variant);
                }
            }
        }
    }
    found
}
