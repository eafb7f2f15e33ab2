//! Types and declarators, and the definitions of records.
//!
//! Typedef names are looked through, except those that carry an alignment of their own. What has no
//! name in C gets one from [`super::names`]; enumerations that cannot be seen are the integers they
//! are compatible with.

use std::borrow::Cow;

use ir::layout::RecordLayout;
use ir::program::OffsetStep;
use ir::types::{AliasId, ArrayLen, EnumId, Field, FunctionType, Record, RecordId, Ty, TypeKind};

use super::bits::has_bits;
use super::{Out, Printer};

/// What the text may say of lengths that are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lengths {
    Computed,
    /// `[*]`: in the parameters of a type.
    Star,
}

impl Printer<'_> {
    /// `double (*name)[3]`
    pub fn declare(&self, ty: Ty, name: &str) -> String {
        let (base, declarator) = self.declarator(ty, name);
        join(&base, &declarator)
    }

    /// A pointer to such an object: `double (*name)[3]`.
    pub fn declare_pointer(&self, to: Ty, name: &str) -> String {
        let declarator = format!("*{name}");
        let (base, declarator) = self.split(to, declarator, Lengths::Computed, self.is_object(to));
        join(&base, &declarator)
    }

    /// Whether what a pointer leads to is an object, of which the text says what memory it is in.
    fn is_object(&self, ty: Ty) -> bool {
        self.names_memory() && !matches!(self.program.types.shape(ty), TypeKind::Function(_))
    }

    /// `double (*)[3]`
    pub fn type_name(&self, ty: Ty) -> String {
        self.declare(ty, "")
    }

    /// What stands left of all declarators of one declaration, and the declarator.
    pub(super) fn declarator(&self, ty: Ty, name: &str) -> (String, String) {
        self.split(ty, name.to_owned(), Lengths::Computed, false)
    }

    /// `is_far`: the object is in the memory of a device, and the text must say so.
    fn split(
        &self,
        ty: Ty,
        declarator: String,
        lengths: Lengths,
        is_far: bool,
    ) -> (String, String) {
        let types = &self.program.types;
        let (mut ty, mut declarator, mut is_far) = (ty, declarator, is_far);
        let memory = |is_far: bool| if is_far { "__global" } else { "" };
        // From the outside in: each step writes itself around what stands there.
        loop {
            let kind = types.kind(ty.id);
            if let TypeKind::Alias(id) = kind {
                if let Some(name) = self.kept_alias(*id) {
                    return (join(memory(is_far), &qualified(ty, &name)), declarator);
                }
                ty = types.aliases[*id].ty.qualified(ty.quals);
            } else if let TypeKind::Pointer(to) = kind
                && self.is_numbered(*to)
            {
                return (join(memory(is_far), &qualified(ty, "unsigned long")), declarator);
            } else if let TypeKind::Pointer(to) = kind {
                let quals = join(memory(is_far), &quals(ty));
                let gap = if quals.is_empty() || declarator.is_empty() { "" } else { " " };
                declarator = format!("*{quals}{gap}{declarator}");
                ty = if self.grid.is_some() { self.known_part(*to) } else { *to };
                is_far = self.is_object(ty);
            } else if let TypeKind::Array(element, len) = kind {
                let len = match len {
                    ArrayLen::Known(len) => len.to_string(),
                    ArrayLen::Unknown => String::new(),
                    ArrayLen::Variable(Some(len)) if lengths == Lengths::Computed => {
                        self.lengths.get(len).cloned().unwrap_or_else(|| self.expr(*len))
                    }
                    ArrayLen::Variable(_) => "*".to_owned(),
                };
                declarator = format!("{}[{len}]", grouped(declarator));
                ty = element.qualified(ty.quals);
            } else if let TypeKind::Function(function) = kind {
                let params = self.params(function);
                declarator = format!("{}({params})", grouped(declarator));
                ty = function.ret;
                is_far = false;
            } else {
                return (join(memory(is_far), &qualified(ty, &self.base(kind))), declarator);
            }
        }
    }

    /// Parameters of a type that has no names for them.
    fn params(&self, function: &FunctionType) -> String {
        let mut params: Vec<String> = Vec::new();
        if function.prototyped {
            for ty in &function.params {
                let (base, declarator) = self.split(*ty, String::new(), Lengths::Star, false);
                params.push(join(&base, &declarator));
            }
        }
        if function.variadic {
            params.push("...".to_owned());
        } else if function.prototyped && params.is_empty() {
            params.push("void".to_owned());
        }
        params.join(", ")
    }

    /// The tag of an enumeration that the text around defines.
    fn enumeration(&self, id: EnumId) -> Option<&str> {
        let tag = self.program.types.enums.find(id)?.tag?;
        let known = self.enumerations.iter().find(|it| **it == self.program.names.text(tag));
        known.copied().or_else(|| self.names.enumeration(self.program, self.setting, id))
    }

    /// What stands to the left of a declarator.
    pub(super) fn base(&self, kind: &TypeKind) -> String {
        match kind {
            TypeKind::Void => "void".to_owned(),
            TypeKind::Bool => "_Bool".to_owned(),
            TypeKind::Int(kind) => self.kind_there(*kind).spelling().to_owned(),
            TypeKind::Float(kind) => kind.spelling().to_owned(),
            TypeKind::Complex(kind) if self.is_cpp() => {
                format!("__ferry_complex<{}>", kind.spelling())
            }
            TypeKind::Complex(kind) => format!("_Complex {}", kind.spelling()),
            TypeKind::ComplexInt(kind) => format!("_Complex {}", kind.spelling()),
            TypeKind::Enum(id) => match self.enumeration(*id) {
                Some(tag) => format!("enum {tag}"),
                None => {
                    self.kind_there(self.program.types.enums[*id].underlying).spelling().to_owned()
                }
            },
            TypeKind::Record(id) => self.record_name(*id).into_owned(),
            TypeKind::Atomic(inner) => format!("_Atomic({})", self.type_name(*inner)),
            TypeKind::Vector(element, lanes) => {
                let size = self.program.model.size_of(&self.program.types, *element).unwrap_or(1);
                let size = size.saturating_mul(u64::from(*lanes));
                format!("{} __attribute__((vector_size({size})))", self.type_name(*element))
            }
            TypeKind::VaList => "__builtin_va_list".to_owned(),
            // A program with errors is not printed; the others are written by the caller.
            TypeKind::Error
            | TypeKind::Pointer(_)
            | TypeKind::Array(..)
            | TypeKind::Function(_)
            | TypeKind::Alias(_) => "int".to_owned(),
        }
    }

    /// The name of a typedef that cannot be looked through.
    pub(super) fn kept_alias(&self, id: AliasId) -> Option<String> {
        let alias = self.program.types.aliases.find(id)?;
        alias.align?;
        let name = self.text(alias.name);
        Some(match self.is_seen(alias.span) {
            true => name.to_owned(),
            false => format!("__{name}_{}", id.index()),
        })
    }

    /// `struct node;`, where that declares something.
    pub(super) fn record_declaration(&self, id: RecordId) -> String {
        format!("{};", self.record_name(id))
    }

    /// `struct node { … };`; nothing for one that is never defined.
    pub(super) fn record_definition(&self, id: RecordId, out: &mut Out<'_>) {
        let Some(record) = self.program.types.records.find(id) else { return };
        if record.fields.is_none() {
            return;
        }
        if let Some(pack) = record.pack {
            out.raw(&format!("#pragma pack(push, {pack})"));
        }
        let text = format!("{};", self.record_body(id, Some(&self.record_name(id))));
        out.line(&text);
        if record.pack.is_some() {
            out.raw("#pragma pack(pop)");
        }
        self.assert_layout(id, out);
    }

    /// Has the compiler refuse a record that it lays out otherwise than the host's does, where that is in doubt.
    fn assert_layout(&self, id: RecordId, out: &mut Out<'_>) {
        let is_odd = |it: &&Record| {
            let is_asked = it.packed || it.pack.is_some() || it.align.is_some();
            let mut fields = it.fields.iter().flatten();
            let is_odd = |it: &Field| {
                it.packed
                    || it.align.is_some()
                    || self.loose_alignment(it).is_some()
                    || self.is_left_out(it)
            };
            has_bits(it) || is_asked || fields.any(is_odd)
        };
        let record = self.program.types.records.find(id).filter(is_odd).filter(|_| self.is_cpp());
        let layout = self.program.model.record(&self.program.types, id);
        let (Some(_), Ok(layout)) = (record, layout) else { return };
        let name = self.record_name(id);
        out.line(&format!(
            "static_assert(sizeof({name}) == {}, \"{name} is laid out otherwise here\");",
            layout.size
        ));
    }

    /// `typedef int name __attribute__((aligned(16)));`
    pub(super) fn alias_definition(&self, id: AliasId, out: &mut Out<'_>) {
        let (Some(name), Some(alias)) = (self.kept_alias(id), self.program.types.aliases.find(id))
        else {
            return;
        };
        let align = alias.align.unwrap_or(1);
        let declared = self.declare(alias.ty, &name);
        out.line(&format!("typedef {declared} __attribute__((aligned({align})));"));
    }

    /// `struct node { int x; }`, without tag for an anonymous member.
    fn record_body(&self, id: RecordId, name: Option<&str>) -> String {
        let Some(record) = self.program.types.records.find(id) else { return String::new() };
        let split = self.split_layout(id);
        // NVIDIA's compiler does not look at those that stand behind.
        let mut attrs = self.record_attributes(record, split.as_deref());
        if split.is_none() && record.fields.iter().flatten().any(|it| self.is_left_out(it)) {
            let align = self.program.model.record(&self.program.types, id).map(|it| it.align);
            attrs.extend(align.map(|it| format!("aligned({it})")));
        }
        let word = if record.is_union { "union" } else { "struct" };
        let tag = name.and_then(|it| it.split_once(' ')).map(|it| it.1).unwrap_or_default();
        let mut text = join(&format!("{word}{}", attributes(&attrs)), tag);
        text.push_str(" {");
        for (at, field) in record.fields.iter().flatten().enumerate() {
            if let Some(layout) = split.as_deref().filter(|_| field.bits.is_some()) {
                if let Some(bytes) = self.bytes_member(id, layout, at) {
                    text.push_str(&format!("\n  {bytes};"));
                }
                continue;
            }
            if self.is_left_out(field) {
                continue;
            }
            text.push_str("\n  ");
            text.push_str(&self.field(field, at).replace('\n', "\n  "));
            text.push(';');
        }
        text.push_str("\n}");
        // Of a union that is not complete nobody knows whether it can be one.
        text.push_str(if record.transparent { " __attribute__((transparent_union))" } else { "" });
        text
    }

    fn record_attributes(&self, record: &Record, split: Option<&RecordLayout>) -> Vec<String> {
        let mut attrs = Vec::new();
        if record.packed {
            attrs.push("packed".to_owned());
        }
        let align = split.map(|it| it.align).or(record.align);
        attrs.extend(align.map(|it| format!("aligned({it})")));
        attrs
    }

    fn field(&self, field: &Field, at: usize) -> String {
        let mut text = match (field.name, self.program.types.record_of(field.ty)) {
            // An anonymous member has no tag either, or it would declare nothing.
            (None, Some(record)) => {
                let name = if self.is_cpp() { format!(" {}", nameless(at)) } else { String::new() };
                format!("{}{name}", qualified(field.ty, &self.record_body(record, None)))
            }
            (name, _) => {
                let name = name.map(|it| self.member_word(it)).unwrap_or_default();
                self.declare(field.ty, &name)
            }
        };
        if let Some(bits) = field.bits {
            text.push_str(&format!(" : {bits}"));
        }
        let mut attrs = Vec::new();
        let loose = self.loose_alignment(field);
        if field.packed || loose.is_some() {
            attrs.push("packed".to_owned());
        }
        let align = field.align.or(loose.filter(|it| *it > 1));
        attrs.extend(align.map(|it| format!("aligned({it})")));
        text.push_str(&attributes(&attrs));
        text
    }

    /// The alignment of a member whose type has a name that asks for less than the type itself does: NVIDIA's compiler
    /// takes that from the member only.
    fn loose_alignment(&self, field: &Field) -> Option<u64> {
        let (types, model) = (&self.program.types, self.program.model);
        let asked = model.align_of(types, field.ty).ok()?;
        let natural = model.align_of(types, types.resolve(field.ty)).ok()?;
        (self.is_cpp() && field.bits.is_none() && asked < natural).then_some(asked)
    }

    /// Whether a member is an array without elements of its own, which C++ does not have: its place is the end of the record.
    pub(super) fn is_left_out(&self, field: &Field) -> bool {
        let shape = self.program.types.shape(field.ty);
        let is_empty = matches!(shape, TypeKind::Array(_, ArrayLen::Unknown | ArrayLen::Known(0)));
        self.is_cpp() && is_empty
    }

    /// The name of a member; nothing for an anonymous one, where it needs none.
    pub(crate) fn field_name(&self, record: RecordId, at: u32) -> Option<Cow<'_, str>> {
        let record = self.program.types.records.find(record)?;
        let field = record.fields.as_ref()?.get(at as usize)?;
        match field.name {
            Some(name) => Some(self.member_word(name)),
            None => self.is_cpp().then(|| Cow::Owned(nameless(at as usize))),
        }
    }

    /// `__builtin_offsetof(struct s, a.b[3])`
    pub(super) fn offsetof(&self, ty: Ty, path: &[OffsetStep]) -> String {
        let mut text = String::new();
        for step in path {
            match step {
                OffsetStep::Field(record, at) => {
                    let Some(name) = self.field_name(*record, *at) else { continue };
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&name);
                }
                OffsetStep::Index(index) => text.push_str(&format!("[{}]", self.expr(*index))),
            }
        }
        match self.is_cpp() {
            true => format!("((unsigned long)&(({} *)0)->{text})", self.type_name(ty)),
            false => format!("__builtin_offsetof({}, {text})", self.type_name(ty)),
        }
    }
}

/// The name of a member without one, in a language where only unions may have such.
fn nameless(at: usize) -> String {
    format!("__ferry_m{at}")
}

/// ` __attribute__((a, b))`; nothing for none.
pub(super) fn attributes(list: &[String]) -> String {
    match list.is_empty() {
        true => String::new(),
        false => format!(" __attribute__(({}))", list.join(", ")),
    }
}

/// `restrict` has its double underscores: the text may be read in any mode of the language.
fn quals(ty: Ty) -> String {
    ty.quals.spelling().replace("restrict", "__restrict")
}

fn qualified(ty: Ty, base: &str) -> String {
    join(&quals(ty), base)
}

fn join(left: &str, right: &str) -> String {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right.to_owned(),
        (_, true) => left.to_owned(),
        (false, false) => format!("{left} {right}"),
    }
}

/// A declarator that a suffix is added to: a pointer needs parentheses, nothing else does.
fn grouped(declarator: String) -> String {
    if declarator.starts_with('*') { format!("({declarator})") } else { declarator }
}
