//! Types in C's own words, as a user would write them.
//!
//! Typedef names are kept. What C cannot write is given in the words of compilers' messages:
//! `struct <unnamed>`, `[*]` for a computed length, `__vector(4) float`.

use source::Names;

use crate::types::{ArrayLen, FloatKind, FunctionType, IntKind, Quals, Ty, TypeKind, Types};

impl IntKind {
    /// Its keywords.
    pub fn spelling(self) -> &'static str {
        match self {
            IntKind::Char => "char",
            IntKind::SChar => "signed char",
            IntKind::UChar => "unsigned char",
            IntKind::Short => "short",
            IntKind::UShort => "unsigned short",
            IntKind::Int => "int",
            IntKind::UInt => "unsigned int",
            IntKind::Long => "long",
            IntKind::ULong => "unsigned long",
            IntKind::LongLong => "long long",
            IntKind::ULongLong => "unsigned long long",
            IntKind::Int128 => "__int128",
            IntKind::UInt128 => "unsigned __int128",
        }
    }
}

impl FloatKind {
    /// Its keywords.
    pub fn spelling(self) -> &'static str {
        match self {
            FloatKind::Float16 => "_Float16",
            FloatKind::BFloat16 => "__bf16",
            FloatKind::Float => "float",
            FloatKind::Double => "double",
            FloatKind::LongDouble => "long double",
            FloatKind::Float32 => "_Float32",
            FloatKind::Float64 => "_Float64",
            FloatKind::Float128 => "_Float128",
            FloatKind::Float32x => "_Float32x",
            FloatKind::Float64x => "_Float64x",
        }
    }
}

impl Quals {
    /// `const volatile`; empty if there is none.
    pub fn spelling(self) -> String {
        let words = [
            (self.is_const, "const"),
            (self.is_volatile, "volatile"),
            (self.is_restrict, "restrict"),
        ];
        let words: Vec<&str> = words.into_iter().filter(|it| it.0).map(|it| it.1).collect();
        words.join(" ")
    }
}

impl Types {
    /// `double (*)[3]`
    pub fn spell(&self, names: &Names, ty: Ty) -> String {
        self.spell_decl(names, ty, "")
    }

    /// `double (*name)[3]`
    pub fn spell_decl(&self, names: &Names, ty: Ty, name: &str) -> String {
        let mut declarator = name.to_owned();
        let mut ty = ty;
        // From the outside in: each step writes itself around what stands there.
        loop {
            let kind = self.kind(ty.id);
            if let TypeKind::Pointer(to) = kind {
                let quals = ty.quals.spelling();
                let gap = if quals.is_empty() || declarator.is_empty() { "" } else { " " };
                declarator = format!("*{quals}{gap}{declarator}");
                ty = *to;
            } else if let TypeKind::Array(element, len) = kind {
                let len = match len {
                    ArrayLen::Known(len) => len.to_string(),
                    ArrayLen::Unknown => String::new(),
                    ArrayLen::Variable(_) => "*".to_owned(),
                };
                declarator = format!("{}[{len}]", grouped(declarator));
                ty = element.qualified(ty.quals);
            } else if let TypeKind::Function(function) = kind {
                let params = self.spell_params(names, function);
                declarator = format!("{}({params})", grouped(declarator));
                ty = function.ret;
            } else {
                let base = self.spell_base(names, kind);
                let quals = ty.quals.spelling();
                let mut words: Vec<&str> = vec![&quals, &base, &declarator];
                words.retain(|it| !it.is_empty());
                return words.join(" ");
            }
        }
    }

    fn spell_params(&self, names: &Names, function: &FunctionType) -> String {
        let mut params: Vec<String> =
            function.params.iter().map(|&ty| self.spell(names, ty)).collect();
        if function.variadic {
            params.push("...".to_owned());
        } else if function.prototyped && params.is_empty() {
            params.push("void".to_owned());
        }
        params.join(", ")
    }

    /// What stands to the left of a declarator.
    fn spell_base(&self, names: &Names, kind: &TypeKind) -> String {
        let tagged = |word: &str, tag: Option<source::Name>| {
            format!("{word} {}", tag.map_or("<unnamed>", |tag| names.text(tag)))
        };
        match kind {
            TypeKind::Error => "<error>".to_owned(),
            TypeKind::Void => "void".to_owned(),
            TypeKind::Bool => "_Bool".to_owned(),
            TypeKind::Int(kind) => kind.spelling().to_owned(),
            TypeKind::Float(kind) => kind.spelling().to_owned(),
            TypeKind::Complex(kind) => format!("_Complex {}", kind.spelling()),
            TypeKind::ComplexInt(kind) => format!("_Complex {}", kind.spelling()),
            TypeKind::Enum(id) => tagged("enum", self.enums[*id].tag),
            TypeKind::Record(id) => {
                let record = &self.records[*id];
                tagged(if record.is_union { "union" } else { "struct" }, record.tag)
            }
            TypeKind::Alias(id) => names.text(self.aliases[*id].name).to_owned(),
            TypeKind::Atomic(inner) => format!("_Atomic({})", self.spell(names, *inner)),
            TypeKind::Vector(element, lanes) => {
                format!("__vector({lanes}) {}", self.spell(names, *element))
            }
            TypeKind::VaList => "__builtin_va_list".to_owned(),
            // Declarators, written by the caller.
            TypeKind::Pointer(_) | TypeKind::Array(..) | TypeKind::Function(_) => String::new(),
        }
    }
}

/// A declarator that a suffix is added to: a pointer needs parentheses, nothing else does.
fn grouped(declarator: String) -> String {
    if declarator.starts_with('*') { format!("({declarator})") } else { declarator }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Alias, Record};
    use source::Span;

    #[test]
    fn declarators_read_as_users_write_them() {
        let (mut types, mut names) = (Types::new(), Names::new());
        let constant = Quals { is_const: true, ..Quals::NONE };
        let int = types.get(TypeKind::Int(IntKind::Int));
        let char = types.get(TypeKind::Int(IntKind::Char));
        let double = types.get(TypeKind::Float(FloatKind::Double));
        let text = types.pointer_to(char.qualified(constant));
        let row = types.get(TypeKind::Array(double, ArrayLen::Known(3)));
        let rows = types.pointer_to(row);
        let matrix = types.get(TypeKind::Array(row, ArrayLen::Known(2)));
        let params = [int, text].into();
        let function = FunctionType { ret: rows, params, variadic: true, prototyped: true };
        let function = types.get(TypeKind::Function(function));
        let callback = types.pointer_to(function);
        let table = types.get(TypeKind::Array(callback, ArrayLen::Unknown));
        let alias = types.aliases.push(Alias {
            name: names.intern("real"),
            ty: double,
            align: None,
            span: Span::NONE,
        });
        let real = types.get(TypeKind::Alias(alias));
        let node = types.records.push(Record {
            tag: Some(names.intern("node")),
            is_union: false,
            fields: None,
            packed: false,
            pack: None,
            align: None,
            transparent: false,
            span: Span::NONE,
        });
        let node = types.get(TypeKind::Record(node));
        let to_node = types.pointer_to(node).qualified(constant);
        let cases = [
            (text, "const char *x"),
            (rows, "double (*x)[3]"),
            (matrix, "double x[2][3]"),
            (callback, "double (*(*x)(int, const char *, ...))[3]"),
            (table, "double (*(*x[])(int, const char *, ...))[3]"),
            (real.qualified(constant), "const real x"),
            (to_node, "struct node *const x"),
        ];
        for (ty, expect) in cases {
            assert_eq!(types.spell_decl(&names, ty, "x"), expect);
        }
        assert_eq!(types.spell(&names, rows), "double (*)[3]");
        assert_eq!(types.spell(&names, text), "const char *");
        assert_eq!(types.spell(&names, to_node), "struct node *const");
    }
}
