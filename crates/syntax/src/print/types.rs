//! What stands in front of declarators, as text: specifiers, records and enumerations.
//!
//! Specifiers come in one fixed order. Attributes stand where they mean the same for what they
//! belong to: those of a declaration in front of its type, so that a record does not take them for
//! its own; those of a record between keyword and tag.

use super::Level;
use super::declarator::{Trailer, qualifiers};
use super::{ERROR, Printer};
use crate::ast::{
    AlignAs, AttrId, Basic, BasicKind, EnumId, Member, RecordId, SpecsId, Storage, TypeNameId,
    TypeSpec,
};

impl Printer<'_> {
    /// `const int *[3]`
    pub(super) fn type_name(&mut self, type_name: TypeNameId) {
        let tree = self.tree;
        let it = &tree.type_names[type_name];
        let declarator = &tree.declarators[it.declarator];
        // No attributes may follow an abstract declarator here; in front they mean the same.
        if !declarator.attrs.is_empty() {
            self.attrs(&declarator.attrs);
            self.put(" ");
        }
        self.specs(it.specs);
        if !declarator.parts.is_empty() || declarator.name.is_some() {
            self.space();
            self.declarator(it.declarator, Trailer::Nothing);
        }
    }

    /// Everything in front of the declarators.
    pub(super) fn specs(&mut self, specs: SpecsId) {
        let tree = self.tree;
        let specs = &tree.specs[specs];
        if specs.extension {
            self.put("__extension__ ");
        }
        if !specs.attrs.is_empty() {
            self.attrs(&specs.attrs);
            self.put(" ");
        }
        if let Some(storage) = specs.storage {
            self.put(match storage {
                Storage::Typedef => "typedef ",
                Storage::Extern => "extern ",
                Storage::Static => "static ",
                Storage::Auto => "auto ",
                Storage::Register => "register ",
            });
        }
        for (is_there, word) in [
            (specs.thread_local, "_Thread_local "),
            (specs.inline, "__inline "),
            (specs.noreturn, "_Noreturn "),
        ] {
            if is_there {
                self.put(word);
            }
        }
        for alignment in &specs.alignas {
            self.put("_Alignas(");
            match alignment {
                AlignAs::Type(ty) => self.type_name(*ty),
                AlignAs::Expr(bytes) => self.expr(*bytes, Level::Conditional),
            }
            self.put(") ");
        }
        for word in qualifiers(specs.quals) {
            self.put(word);
            self.put(" ");
        }
        match specs.ty {
            TypeSpec::Error => self.put(ERROR),
            TypeSpec::Missing => {}
            TypeSpec::Basic(basic) => self.basic(basic),
            TypeSpec::Typedef(name) => self.name(name),
            TypeSpec::Record(record) => self.record(record),
            TypeSpec::Enum(it) => self.enumeration(it),
            TypeSpec::TypeofExpr(expr) => {
                self.put("__typeof__(");
                self.expr(expr, Level::Comma);
                self.put(")");
            }
            TypeSpec::TypeofType(ty) => {
                self.put("__typeof__(");
                self.type_name(ty);
                self.put(")");
            }
            TypeSpec::TypeofUnqualExpr(expr) => {
                self.put("__typeof_unqual__(");
                self.expr(expr, Level::Comma);
                self.put(")");
            }
            TypeSpec::TypeofUnqualType(ty) => {
                self.put("__typeof_unqual__(");
                self.type_name(ty);
                self.put(")");
            }
            TypeSpec::Atomic(ty) => {
                self.put("_Atomic(");
                self.type_name(ty);
                self.put(")");
            }
            TypeSpec::AutoType => self.put("__auto_type"),
        }
    }

    fn basic(&mut self, basic: Basic) {
        if basic.complex {
            self.put("_Complex ");
        }
        self.put(match basic.kind {
            BasicKind::Void => "void",
            BasicKind::Bool => "_Bool",
            BasicKind::Char => "char",
            BasicKind::SChar => "signed char",
            BasicKind::UChar => "unsigned char",
            BasicKind::Short => "short",
            BasicKind::UShort => "unsigned short",
            BasicKind::Int => "int",
            BasicKind::UInt => "unsigned int",
            BasicKind::Long => "long",
            BasicKind::ULong => "unsigned long",
            BasicKind::LongLong => "long long",
            BasicKind::ULongLong => "unsigned long long",
            BasicKind::Int128 => "__int128",
            BasicKind::UInt128 => "unsigned __int128",
            BasicKind::Float16 => "_Float16",
            BasicKind::BFloat16 => "__bf16",
            BasicKind::Float => "float",
            BasicKind::Double => "double",
            BasicKind::LongDouble => "long double",
            BasicKind::Float32 => "_Float32",
            BasicKind::Float64 => "_Float64",
            BasicKind::Float128 => "_Float128",
            BasicKind::Float32x => "_Float32x",
            BasicKind::Float64x => "_Float64x",
            BasicKind::VaList => "__builtin_va_list",
        });
    }

    /// `struct tag {`, a line for each member, `}`
    fn record(&mut self, record: RecordId) {
        let tree = self.tree;
        let record = &tree.records[record];
        self.put(if record.is_union { "union" } else { "struct" });
        self.tag(&record.attrs, record.tag.map(|it| it.name));
        let Some(members) = &record.members else { return };
        self.put(" {\n");
        self.indented(|it| {
            for member in members {
                it.begin_line();
                it.member(member);
                it.end_line("");
            }
        });
        self.begin_line();
        self.put("}");
    }

    fn member(&mut self, member: &Member) {
        let tree = self.tree;
        let (specs, fields) = match member {
            Member::StaticAssert(condition, message) => {
                return self.static_assert(*condition, *message);
            }
            Member::Fields(specs, fields) => (specs, fields),
        };
        self.specs(*specs);
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            } else {
                self.space();
            }
            let Some(width) = field.width else {
                self.declarator(field.declarator, Trailer::Attributes);
                continue;
            };
            let attrs = &tree.declarators[field.declarator].attrs;
            self.declarator(field.declarator, Trailer::Nothing);
            self.put(" : ");
            self.expr(width, Level::Conditional);
            self.trailing_attrs(attrs);
        }
        self.put(";");
    }

    /// `enum tag {`, a line for each constant, `}`
    fn enumeration(&mut self, it: EnumId) {
        let tree = self.tree;
        let it = &tree.enums[it];
        self.put("enum");
        self.tag(&it.attrs, it.tag.map(|it| it.name));
        let Some(constants) = &it.constants else { return };
        self.put(" {\n");
        self.indented(|it| {
            for constant in constants {
                it.begin_line();
                it.name(constant.ident.name);
                if !constant.attrs.is_empty() {
                    it.put(" ");
                    it.attrs(&constant.attrs);
                }
                if let Some(value) = constant.value {
                    it.put(" = ");
                    it.expr(value, Level::Conditional);
                }
                it.end_line(",");
            }
        });
        self.begin_line();
        self.put("}");
    }

    /// Attributes and tag after `struct`, `union` or `enum`.
    fn tag(&mut self, attrs: &[AttrId], tag: Option<source::Name>) {
        if !attrs.is_empty() {
            self.put(" ");
            self.attrs(attrs);
        }
        if let Some(tag) = tag {
            self.put(" ");
            self.name(tag);
        }
    }
}
