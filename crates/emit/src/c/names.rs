//! What things are called, where the user's spelling would mean something else.
//!
//! C tells things apart by scope; printed text may stand elsewhere than it was written, and has no
//! typedef names, so a name could be caught by another declaration. A local variable that would
//! catch a name meant for another is given a new one; records get tags that are unique in the
//! program. In place ([`Setting::InPlace`]) all names are the user's.

use ir::program::{ExprKind, FunctionId, LabelId, Program, StmtKind, VarId, VarStorage};
use ir::types::{EnumId, RecordId, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Name, Span};

use super::Setting;

/// Names that differ from the user's, and those of things without one.
#[derive(Debug, Default)]
pub(super) struct Table {
    vars: FxHashMap<VarId, String>,
    labels: FxHashMap<LabelId, String>,
    /// How each record is called, keyword included.
    records: Vec<String>,
    /// Extents of function definitions, in order.
    bodies: Vec<Span>,
}

impl Table {
    pub(super) fn new(program: &Program, setting: Setting) -> Table {
        let mut table = Table { bodies: bodies(program), ..Table::default() };
        table.name_records(program, setting);
        if setting != Setting::InPlace {
            for (id, function) in program.functions.iter() {
                if function.body.is_some() {
                    Scan::new(program, setting, &mut table).function(id);
                }
            }
        }
        table
    }

    /// Whether something was declared inside a function.
    pub(super) fn is_local(&self, span: Span) -> bool {
        let at = self.bodies.partition_point(|it| it.end <= span.start);
        self.bodies.get(at).is_some_and(|it| it.start <= span.start && span != Span::NONE)
    }

    pub(super) fn var(&self, program: &Program, id: VarId) -> String {
        if let Some(name) = self.vars.get(&id) {
            return name.clone();
        }
        match program.vars.find(id).and_then(|it| it.name) {
            Some(name) => program.names.text(name).to_owned(),
            None => format!("__unnamed{}", id.index()),
        }
    }

    pub(super) fn label(&self, program: &Program, id: LabelId) -> String {
        if let Some(name) = self.labels.get(&id) {
            return name.clone();
        }
        program.labels.find(id).map(|it| program.names.text(it.name).to_owned()).unwrap_or_default()
    }

    /// `struct node`
    pub(super) fn record(&self, id: RecordId) -> &str {
        self.records.get(id.index()).map_or("struct __unknown", String::as_str)
    }

    /// Tags: those of the file stay; a second of the same name, and one without, get a new one.
    fn name_records(&mut self, program: &Program, setting: Setting) {
        let types = &program.types;
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let enums = types.enums.iter().filter_map(|(_, it)| it.tag);
        taken.extend(enums.map(|it| program.names.text(it).to_owned()));
        let mut tags: Vec<Option<String>> = vec![None; types.records.len()];
        let of_file = |it: &ir::types::Record| !self.is_local(it.span);
        // The file's own tags first: they must stay.
        for wanted in [true, false] {
            for ((_, record), place) in types.records.iter().zip(&mut tags) {
                if of_file(record) != wanted || place.is_some() {
                    continue;
                }
                let own = record.tag.map(|it| program.names.text(it));
                let keeps = setting == Setting::InPlace;
                *place = own.map(|it| match keeps {
                    true => it.to_owned(),
                    false => unique(it, &mut taken),
                });
            }
        }
        for ((id, record), tag) in types.records.iter().zip(tags) {
            let word = if record.is_union { "union" } else { "struct" };
            let text = match tag {
                Some(tag) => format!("{word} {tag}"),
                None => format!("{word} {}", unique(&format!("__anon{}", id.index()), &mut taken)),
            };
            self.records.push(text);
        }
        if setting != Setting::Alone {
            self.name_nameless(program, setting);
        }
    }

    /// Records without a tag that the text around can name: by a typedef, or by something that is
    /// of their type.
    fn name_nameless(&mut self, program: &Program, setting: Setting) {
        let types = &program.types;
        let mut found: FxHashMap<RecordId, String> = FxHashMap::default();
        let visible = |span: Span| setting == Setting::InPlace || !self.is_local(span);
        for (_, alias) in types.aliases.iter().filter(|(_, it)| visible(it.span)) {
            if let TypeKind::Record(id) = types.kind(alias.ty.id) {
                let name = program.names.text(alias.name);
                found.entry(*id).or_insert_with(|| name.to_owned());
            }
        }
        for (_, var) in program.vars.iter() {
            let Some(name) = var.name.filter(|_| visible(var.span)) else { continue };
            if let Some((id, path)) = reaches_record(program, var.ty, program.names.text(name)) {
                found.entry(id).or_insert_with(|| format!("__typeof__({path})"));
            }
        }
        for (outer, record) in types.records.iter().filter(|(_, it)| visible(it.span)) {
            for field in record.fields.iter().flatten() {
                let (Some(name), Some(tag)) = (field.name, record.tag) else { continue };
                let word = if record.is_union { "union" } else { "struct" };
                let (tag, name) = (program.names.text(tag), program.names.text(name));
                let path = format!("(({word} {tag} *)0)->{name}");
                if let Some((id, path)) = reaches_record(program, field.ty, &path)
                    && id != outer
                {
                    found.entry(id).or_insert_with(|| format!("__typeof__({path})"));
                }
            }
        }
        let mut nameless: Vec<(usize, String)> = Vec::new();
        for (id, record) in types.records.iter() {
            if record.tag.is_none()
                && visible(record.span)
                && let Some(text) = found.remove(&id)
            {
                nameless.push((id.index(), text));
            }
        }
        for (at, text) in nameless {
            self.records.get_mut(at).into_iter().for_each(|it| it.clone_from(&text));
        }
    }

    /// The tag of an enumeration, where the text around declares it.
    pub(super) fn enumeration<'p>(
        &self,
        program: &'p Program,
        setting: Setting,
        id: EnumId,
    ) -> Option<&'p str> {
        let it = program.types.enums.find(id)?;
        let seen = match setting {
            Setting::Alone => false,
            Setting::Appended => !self.is_local(it.span),
            Setting::InPlace => true,
        };
        it.tag.filter(|_| seen).map(|it| program.names.text(it))
    }
}

/// Extents of function definitions: from the name to the end of the body.
fn bodies(program: &Program) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    for (_, function) in program.functions.iter() {
        if let Some(body) = function.body.and_then(|it| program.stmts.find(it)) {
            found.push(Span::new(function.span.start.min(body.span.start), body.span.end));
        }
    }
    found.sort_by_key(|it| it.start);
    found
}

/// The record at the end of arrays and pointers, and how to come to it.
fn reaches_record(program: &Program, ty: Ty, path: &str) -> Option<(RecordId, String)> {
    let types = &program.types;
    let (mut ty, mut path) = (ty, path.to_owned());
    loop {
        let resolved = types.resolve(ty);
        let kind = types.kind(resolved.id);
        if let TypeKind::Record(id) = kind {
            return resolved.quals.spelling().is_empty().then_some((*id, path));
        } else if let TypeKind::Array(inner, _) = kind {
            path = format!("({path})[0]");
            ty = *inner;
        } else if let TypeKind::Pointer(inner) = kind {
            path = format!("*({path})");
            ty = *inner;
        } else {
            return None;
        }
    }
}

/// `name`, or `name__2` if that is taken.
fn unique(name: &str, taken: &mut FxHashSet<String>) -> String {
    let mut text = name.to_owned();
    let mut number = 1;
    while !taken.insert(text.clone()) {
        number += 1;
        text = format!("{name}__{number}");
    }
    text
}

/// Looks through one function for names that would be caught by another declaration.
struct Scan<'a> {
    program: &'a Program,
    table: &'a mut Table,
    /// What each spelling means at this point, innermost last.
    scopes: FxHashMap<Name, Vec<VarId>>,
    opened: Vec<Name>,
    caught: Vec<VarId>,
    labels: FxHashMap<Name, Vec<LabelId>>,
}

impl<'a> Scan<'a> {
    fn new(program: &'a Program, _: Setting, table: &'a mut Table) -> Scan<'a> {
        Scan {
            program,
            table,
            scopes: FxHashMap::default(),
            opened: Vec::new(),
            caught: Vec::new(),
            labels: FxHashMap::default(),
        }
    }

    fn function(&mut self, id: FunctionId) {
        let Some(function) = self.program.functions.find(id) else { return };
        for param in &function.params {
            self.declare(*param);
            self.part(Part::Local(*param));
        }
        function.body.into_iter().for_each(|it| self.part(Part::Stmt(it)));
        let mut spellings: FxHashSet<String> = FxHashSet::default();
        let caught = std::mem::take(&mut self.caught);
        for var in caught {
            let Some(name) = self.program.vars.find(var).and_then(|it| it.name) else { continue };
            if self.table.vars.contains_key(&var) {
                continue;
            }
            let name = self.program.names.text(name);
            spellings.insert(name.to_owned());
            let mut fresh = unique(name, &mut spellings);
            while self.program.names.find(&fresh).is_some() {
                fresh = unique(name, &mut spellings);
            }
            self.table.vars.insert(var, fresh);
        }
        let mut labels: Vec<(Name, Vec<LabelId>)> = self.labels.drain().collect();
        labels.sort_by_key(|it| it.0.index());
        for (name, ids) in labels {
            for (number, label) in ids.into_iter().enumerate().skip(1) {
                let text = format!("{}__{}", self.program.names.text(name), number + 1);
                self.table.labels.insert(label, text);
            }
        }
    }

    fn declare(&mut self, var: VarId) {
        let Some(name) = self.program.vars.find(var).and_then(|it| it.name) else { return };
        self.scopes.entry(name).or_default().push(var);
        self.opened.push(name);
    }

    fn mention(&mut self, name: Name, meant: Option<VarId>) {
        let now = self.scopes.get(&name).and_then(|it| it.last().copied());
        if now.is_some() && now != meant {
            self.caught.extend(now);
        }
    }

    fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        let depth = self.opened.len();
        body(self);
        while self.opened.len() > depth {
            if let Some(name) = self.opened.pop()
                && let Some(stack) = self.scopes.get_mut(&name)
            {
                stack.pop();
            }
        }
    }

    fn part(&mut self, part: Part) {
        let mut is_scope = false;
        match part {
            Part::Expr(id) => match self.program.exprs.find(id).map(|it| &it.kind) {
                Some(ExprKind::Var(var)) => {
                    if let Some(it) = self.program.vars.find(*var)
                        && let Some(name) = it.name
                        // Parameters of prototypes and names that exist in one directive only are
                        // never declared here.
                        && (!matches!(it.storage, VarStorage::Local(_)) || self.knows(name, *var))
                    {
                        self.mention(name, Some(*var));
                    }
                }
                Some(ExprKind::Function(function)) => {
                    if let Some(it) = self.program.functions.find(*function) {
                        self.mention(it.name, None);
                    }
                }
                _ => {}
            },
            Part::Stmt(id) => match self.program.stmts.find(id).map(|it| &it.kind) {
                Some(StmtKind::Local(var)) => self.declare(*var),
                Some(StmtKind::Label(label, _)) => {
                    if let Some(it) = self.program.labels.find(*label) {
                        self.labels.entry(it.name).or_default().push(*label);
                    }
                }
                Some(
                    StmtKind::Block(_)
                    | StmtKind::For(_)
                    | StmtKind::If(..)
                    | StmtKind::While(..)
                    | StmtKind::DoWhile(..)
                    | StmtKind::Switch(..),
                ) => is_scope = true,
                _ => {}
            },
            Part::Region(id) => {
                // Names in clauses count as well.
                if let Some(region) = self.program.regions.find(id) {
                    for var in &region.vars {
                        if let Some(name) = self.program.vars.find(var.var).and_then(|it| it.name) {
                            self.mention(name, Some(var.var));
                        }
                    }
                }
            }
            Part::Local(_) | Part::Init(_) => {}
        }
        let mut parts = Vec::new();
        self.program.parts(part, &mut |it| parts.push(it));
        match is_scope {
            true => self.scoped(|it| parts.into_iter().for_each(|part| it.part(part))),
            false => parts.into_iter().for_each(|part| self.part(part)),
        }
    }

    fn knows(&self, name: Name, var: VarId) -> bool {
        self.scopes.get(&name).is_some_and(|it| it.contains(&var))
    }
}
