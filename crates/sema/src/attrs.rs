//! Attributes that change a type or an object; the others are the host compiler's business.

use ir::types::{FloatKind, IntKind, Ty, TypeKind};
use source::Span;
use syntax::ast;

use crate::Cx;
use crate::messages;

/// What attributes say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attrs {
    pub(crate) align: Option<u64>,
    pub(crate) packed: bool,
    pub(crate) noreturn: bool,
    pub(crate) transparent: bool,
    pub(crate) mode: Option<Mode>,
    /// Bytes of a vector, and where that is said.
    pub(crate) vector: Option<(u64, Span)>,
}

/// `mode(…)`: a number by its width.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    Int(u32),
    /// As wide as a pointer.
    Pointer,
    Float(FloatKind),
    Complex(FloatKind),
}

impl Cx<'_> {
    /// Reads attributes into `attrs`.
    pub(crate) fn read_attrs(&mut self, list: &[ast::AttrId], attrs: &mut Attrs) {
        let tree = self.tree;
        for id in list {
            let attr = &tree.attrs[*id];
            let text = self.program.names.text(attr.ident.name);
            let word = text.strip_prefix("__").and_then(|it| it.strip_suffix("__")).unwrap_or(text);
            match word {
                "aligned" => {
                    let align = match first_arg(attr) {
                        Some(arg) => self.alignment(arg, attr.span),
                        None => Some(self.program.model.max_align),
                    };
                    attrs.align = attrs.align.max(align);
                }
                "packed" => attrs.packed = true,
                "noreturn" => attrs.noreturn = true,
                "transparent_union" => attrs.transparent = true,
                "mode" => attrs.mode = self.mode(attr).or(attrs.mode),
                "vector_size" => {
                    if let Some(ast::AttrArg::Expr(size)) = first_arg(attr) {
                        let size = self.value(size);
                        let size = self.constant(size).and_then(|it| u64::try_from(it).ok());
                        attrs.vector = size.map(|it| (it, attr.span)).or(attrs.vector);
                    }
                }
                _ => {}
            }
        }
    }

    /// `_Alignas(…)`
    pub(crate) fn read_alignas(&mut self, align: ast::AlignAs, span: Span, attrs: &mut Attrs) {
        let arg = match align {
            ast::AlignAs::Type(ty) => ast::AttrArg::Type(ty),
            ast::AlignAs::Expr(expr) => ast::AttrArg::Expr(expr),
        };
        let align = self.alignment(arg, span);
        attrs.align = attrs.align.max(align);
    }

    fn alignment(&mut self, arg: ast::AttrArg, span: Span) -> Option<u64> {
        let value = match arg {
            ast::AttrArg::Type(ty) => {
                let ty = self.type_name(ty);
                return self.align_of(ty);
            }
            ast::AttrArg::Expr(expr) => {
                let expr = self.value(expr);
                if self.is_error(self.ty(expr)) {
                    return None;
                }
                self.constant(expr)
            }
        };
        match value {
            // `_Alignas(0)` says nothing.
            Some(0) => None,
            Some(value) if value > 0 && value & (value - 1) == 0 => u64::try_from(value).ok(),
            Some(_) => {
                self.report(messages::bad_alignment(span));
                None
            }
            None => {
                self.report(messages::not_constant("requested alignment", span));
                None
            }
        }
    }

    fn mode(&self, attr: &ast::Attr) -> Option<Mode> {
        let ast::AttrArg::Expr(arg) = first_arg(attr)? else { return None };
        let ast::ExprKind::Name(name) = self.tree.exprs[arg].kind else { return None };
        let text = self.program.names.text(name);
        let word = text.strip_prefix("__").and_then(|it| it.strip_suffix("__")).unwrap_or(text);
        Some(match word {
            "QI" | "byte" => Mode::Int(8),
            "HI" => Mode::Int(16),
            "SI" => Mode::Int(32),
            "DI" => Mode::Int(64),
            "TI" => Mode::Int(128),
            "word" | "pointer" | "unwind_word" => Mode::Pointer,
            "HF" => Mode::Float(FloatKind::Float16),
            "SF" => Mode::Float(FloatKind::Float),
            "DF" => Mode::Float(FloatKind::Double),
            "XF" => Mode::Float(FloatKind::LongDouble),
            "TF" => Mode::Float(FloatKind::Float128),
            "SC" => Mode::Complex(FloatKind::Float),
            "DC" => Mode::Complex(FloatKind::Double),
            "XC" => Mode::Complex(FloatKind::LongDouble),
            "TC" => Mode::Complex(FloatKind::Float128),
            _ => return None,
        })
    }

    /// The base type as attributes change it; those of the declarator are read first.
    pub(crate) fn with_attrs(&mut self, ty: Ty, list: &[ast::AttrId], attrs: Attrs) -> Ty {
        if list.is_empty() && attrs.mode.is_none() && attrs.vector.is_none() {
            return ty;
        }
        let mut attrs = attrs;
        self.read_attrs(list, &mut attrs);
        self.shaped_by(ty, attrs)
    }

    /// Applies `mode` and `vector_size`.
    pub(crate) fn shaped_by(&mut self, ty: Ty, attrs: Attrs) -> Ty {
        let mut ty = ty;
        if let Some(mode) = attrs.mode {
            ty = self.in_mode(ty, mode);
        }
        if let Some((bytes, span)) = attrs.vector {
            ty = self.vector_of(ty, bytes, span);
        }
        ty
    }

    fn in_mode(&mut self, ty: Ty, mode: Mode) -> Ty {
        let signed = match self.shape(ty) {
            TypeKind::Int(kind) => self.program.model.int_signed(*kind),
            TypeKind::Enum(_) => false,
            _ => true,
        };
        let model = self.program.model;
        let int = |bits| model.int_of(bits, signed).unwrap_or(IntKind::Int);
        let kind = match mode {
            Mode::Int(bits) => TypeKind::Int(int(bits)),
            Mode::Pointer => {
                TypeKind::Int(if signed { model.ptrdiff_kind } else { model.size_kind })
            }
            Mode::Float(kind) => TypeKind::Float(kind),
            Mode::Complex(kind) => TypeKind::Complex(kind),
        };
        let quals = self.program.types.resolve(ty).quals;
        self.program.types.get(kind).qualified(quals)
    }

    fn vector_of(&mut self, elem: Ty, bytes: u64, span: Span) -> Ty {
        if self.is_error(elem) {
            return elem;
        }
        // On a pointer or array the attribute is about what is at its end.
        let size = match self.is_arithmetic(elem) {
            true => self.size_of(elem).unwrap_or(0),
            false => 0,
        };
        let lanes = bytes.checked_div(size).unwrap_or(0);
        if lanes == 0 || !bytes.is_multiple_of(size) || !lanes.is_power_of_two() {
            let what = format!("no vector of `{}` has {bytes} bytes", self.show(elem));
            self.report(messages::bad_vector(&what, span));
            return self.basics.error;
        }
        let quals = self.program.types.resolve(elem).quals;
        let elem = self.unqualified(elem);
        let lanes = u32::try_from(lanes).unwrap_or(1);
        self.program.types.get(TypeKind::Vector(elem, lanes)).qualified(quals)
    }
}

fn first_arg(attr: &ast::Attr) -> Option<ast::AttrArg> {
    attr.args.as_ref()?.first().copied()
}
