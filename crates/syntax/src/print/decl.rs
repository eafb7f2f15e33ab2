//! Declarations, types and attributes as text.
//!
//! Specifiers come in one fixed order. Attributes stand where they mean the same for what they
//! belong to: those of a declaration in front of its type, those of a record between keyword and
//! tag, those of a declarator behind it, and in a function definition, where that is not allowed,
//! in front.

use super::expr::Level;
use super::{ERROR, Printer};
use crate::ast::{
    AlignAs, ArrayPart, ArraySize, Attr, AttrArg, AttrId, Basic, BasicKind, DeclId, DeclKind,
    DeclaratorId, Derived, EnumId, ExprId, FunctionDef, InitDeclarator, Member, ParamKind, Params,
    Quals, RecordId, SpecsId, Storage, TypeNameId, TypeSpec,
};

impl Printer<'_> {
    /// The file scope, with an empty line around each function.
    pub(super) fn items(&mut self) {
        let tree = self.tree;
        let is_function = |it: DeclId| matches!(tree.decls[it].kind, DeclKind::Function(_));
        let is_pragma = |it: DeclId| matches!(tree.decls[it].kind, DeclKind::Pragma(..));
        let mut before: Option<DeclId> = None;
        for &item in &tree.items {
            // A pragma stays with what it is about.
            let is_apart =
                before.is_some_and(|it| is_function(it) || (is_function(item) && !is_pragma(it)));
            if is_apart {
                self.end_line("");
            }
            self.decl(item);
            before = Some(item);
        }
    }

    /// A declaration on lines of its own.
    pub(super) fn decl(&mut self, decl: DeclId) {
        let tree = self.tree;
        let mut decl = decl;
        while let DeclKind::Pragma(pragma, body) = &tree.decls[decl].kind {
            self.pragma(*pragma);
            match body {
                Some(body) => decl = *body,
                None => return,
            }
        }
        self.begin_line();
        self.decl_text(decl);
        self.end_line("");
    }

    /// A declaration in the middle of a line.
    pub(super) fn decl_text(&mut self, decl: DeclId) {
        let tree = self.tree;
        match &tree.decls[decl].kind {
            DeclKind::Error => self.put(ERROR),
            DeclKind::Empty => self.put(";"),
            DeclKind::Declare(specs, declarators) => {
                self.specs(*specs);
                self.init_declarators(declarators);
                self.put(";");
            }
            DeclKind::Function(def) => self.function(def),
            DeclKind::StaticAssert(condition, message) => self.static_assert(*condition, *message),
            DeclKind::Asm(asm) => {
                self.asm(*asm);
                self.put(";");
            }
            // A line of its own: whoever prints in the middle of one has none to give.
            DeclKind::Pragma(..) => self.put(ERROR),
        }
    }

    fn init_declarators(&mut self, declarators: &[InitDeclarator]) {
        for (at, it) in declarators.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            } else {
                self.space();
            }
            self.declarator(it.declarator, Trailer::Attributes);
            if let Some(init) = it.init {
                self.put(" = ");
                self.init(init);
            }
        }
    }

    /// `int main(void)`, then the body on lines of its own.
    fn function(&mut self, def: &FunctionDef) {
        let tree = self.tree;
        let attrs = &tree.declarators[def.declarator].attrs;
        if attrs.iter().any(|it| !tree.attrs[*it].is_standard) {
            self.attr_lists(attrs, false);
            self.put(" ");
        }
        self.specs(def.specs);
        self.space();
        self.declarator(def.declarator, Trailer::Nothing);
        self.end_line("");
        self.indented(|it| {
            for param in &def.old_params {
                it.decl(*param);
            }
        });
        self.begin_line();
        self.block(def.body);
    }

    /// `_Static_assert(e, "text");`
    fn static_assert(&mut self, condition: ExprId, message: Option<ExprId>) {
        self.put("_Static_assert(");
        self.expr(condition, Level::Conditional);
        if let Some(message) = message {
            self.put(", ");
            self.expr(message, Level::Conditional);
        }
        self.put(");");
    }

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
    fn specs(&mut self, specs: SpecsId) {
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

    /// `*(*name[3])(int)`: what is left of the name from the outside in, the name, then what is
    /// right of it from the inside out.
    fn declarator(&mut self, declarator: DeclaratorId, trailer: Trailer) {
        let tree = self.tree;
        let it = &tree.declarators[declarator];
        for (at, part) in it.parts.iter().enumerate().rev() {
            match part {
                Derived::Pointer(quals, attrs) => {
                    let opens = at > 0 && !follows_pointer(&it.parts, at - 1);
                    self.pointer(*quals, attrs, it.name.is_some() || at > 0, opens);
                }
                Derived::Array(_) | Derived::Function(_) => {
                    if follows_pointer(&it.parts, at) {
                        self.put("(");
                    }
                }
            }
        }
        if let Some(name) = it.name {
            self.name(name.name);
        }
        // A `[[…]]` belongs to the name, and would belong to the array or function type if it
        // stood behind the brackets or parentheses.
        if it.name.is_some() && it.attrs.iter().any(|it| tree.attrs[*it].is_standard) {
            self.put(" ");
            self.attr_lists(&it.attrs, true);
        }
        for (at, part) in it.parts.iter().enumerate() {
            match part {
                Derived::Pointer(..) => {}
                Derived::Array(part) => {
                    self.put(if follows_pointer(&it.parts, at) { ")" } else { "" });
                    self.array(part);
                }
                Derived::Function(params) => {
                    self.put(if follows_pointer(&it.parts, at) { ")" } else { "" });
                    self.params(params);
                }
            }
        }
        if let Some(label) = it.asm_label {
            self.put(" ");
            self.asm(label);
        }
        if trailer == Trailer::Attributes {
            self.trailing_attrs(&it.attrs);
        }
    }

    /// `*const `, with a space where more of the declarator follows.
    fn pointer(&mut self, quals: Quals, attrs: &[AttrId], more: bool, before_paren: bool) {
        self.put("*");
        let mut is_bare = true;
        for word in qualifiers(quals) {
            self.put(if is_bare { "" } else { " " });
            self.put(word);
            is_bare = false;
        }
        if !attrs.is_empty() {
            self.put(if is_bare { "" } else { " " });
            self.attrs(attrs);
            is_bare = false;
        } else if quals.is_atomic && before_paren {
            // `_Atomic (` would begin a type.
            self.put(" __attribute__(())");
        }
        if more && !is_bare {
            self.put(" ");
        }
    }

    /// `[static const n]`
    fn array(&mut self, part: &ArrayPart) {
        self.put("[");
        if part.is_static {
            self.put("static ");
        }
        for word in qualifiers(part.quals) {
            self.put(word);
            self.put(" ");
        }
        match part.size {
            ArraySize::Unknown => {}
            ArraySize::Star => self.put("*"),
            ArraySize::Expr(size) => self.expr(size, Level::Assign),
        }
        self.put("]");
    }

    /// `(int a, …)`
    fn params(&mut self, params: &Params) {
        let tree = self.tree;
        self.put("(");
        match &params.kind {
            ParamKind::Unspecified => {}
            ParamKind::List(list) if list.is_empty() && !params.variadic => self.put("void"),
            ParamKind::List(list) => {
                self.separated(list, ", ", |it, param| {
                    it.specs(param.specs);
                    let declarator = &tree.declarators[param.declarator];
                    if declarator.name.is_some() || !declarator.parts.is_empty() {
                        it.space();
                    }
                    it.declarator(param.declarator, Trailer::Attributes);
                });
                if params.variadic {
                    self.put(if list.is_empty() { "..." } else { ", ..." });
                }
            }
            ParamKind::Names(names) => self.idents(names),
        }
        self.put(")");
    }

    /// ` __attribute__((…))` behind a declarator; its `[[…]]` stand behind the name.
    fn trailing_attrs(&mut self, attrs: &[AttrId]) {
        let tree = self.tree;
        if attrs.iter().any(|it| !tree.attrs[*it].is_standard) {
            self.put(" ");
            self.attr_lists(attrs, false);
        }
    }

    /// `[[a]] __attribute__((b, c))`: standard attributes stand first.
    pub(super) fn attrs(&mut self, attrs: &[AttrId]) {
        let tree = self.tree;
        let standard = attrs.iter().filter(|it| tree.attrs[**it].is_standard).count();
        if standard > 0 {
            self.attr_lists(attrs, true);
        }
        if standard < attrs.len() {
            self.put(if standard > 0 { " " } else { "" });
            self.attr_lists(attrs, false);
        }
    }

    /// The attributes of one of the two spellings.
    fn attr_lists(&mut self, attrs: &[AttrId], is_standard: bool) {
        let tree = self.tree;
        let (open, close) = if is_standard { ("[[", "]]") } else { ("__attribute__((", "))") };
        self.put(open);
        let chosen = attrs.iter().map(|it| &tree.attrs[*it]);
        let chosen = chosen.filter(|it| it.is_standard == is_standard);
        self.separated(chosen, ", ", |it, attr| it.attr(attr));
        self.put(close);
    }

    /// `gnu::aligned(8)`
    fn attr(&mut self, attr: &Attr) {
        if let Some(scope) = attr.scope {
            self.name(scope.name);
            self.put("::");
        }
        self.name(attr.ident.name);
        if let Some(args) = &attr.args {
            self.put("(");
            self.separated(args, ", ", |it, arg| match arg {
                AttrArg::Expr(value) => it.expr(*value, Level::Assign),
                AttrArg::Type(ty) => it.type_name(*ty),
            });
            self.put(")");
        }
    }
}

/// Whether a declarator prints its `__attribute__`s.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trailer {
    /// Behind it.
    Attributes,
    /// Elsewhere.
    Nothing,
}

/// Whether the part before `at` (nearer to the name) is a pointer, which binds looser than the
/// brackets and parentheses that come next.
fn follows_pointer(parts: &[Derived], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| parts.get(at));
    matches!(before, Some(Derived::Pointer(..)))
}

fn qualifiers(quals: Quals) -> impl Iterator<Item = &'static str> {
    let words = [
        (quals.is_const, "const"),
        (quals.is_volatile, "volatile"),
        (quals.is_restrict, "__restrict"),
        (quals.is_atomic, "_Atomic"),
    ];
    words.into_iter().filter(|(is_there, _)| *is_there).map(|(_, word)| word)
}
