//! What stands in front of declarators: storage classes, qualifiers and the base type.

use source::Span;

use super::Parser;
use crate::ast::{
    AlignAs, AttrId, Basic, BasicKind, Ident, Quals, Specs, SpecsId, Storage, TypeName, TypeNameId,
    TypeSpec,
};
use crate::messages;
use crate::scope::Binding;
use crate::token::{Token, TokenKind};

/// Where the specifiers stand decides what an unknown word among them may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// In front of declarators with names.
    Declaration,
    /// In front of a parameter.
    Parameter,
    /// In a record.
    Member,
    /// In a type name: no storage classes.
    TypeName,
}

/// How often each keyword of a basic type was seen.
#[derive(Clone, Copy, Default)]
struct Words {
    signed: u8,
    unsigned: u8,
    short: u8,
    long: u8,
    int: u8,
    complex: u8,
    /// A type that needs only itself.
    main: Option<BasicKind>,
    clash: bool,
    seen: bool,
}

impl Words {
    /// Counts a keyword; false if it is none of a basic type.
    fn add(&mut self, kind: TokenKind) -> bool {
        let main = match kind {
            TokenKind::KwVoid => BasicKind::Void,
            TokenKind::KwBool => BasicKind::Bool,
            TokenKind::KwChar => BasicKind::Char,
            TokenKind::KwFloat => BasicKind::Float,
            TokenKind::KwDouble => BasicKind::Double,
            TokenKind::KwInt128 => BasicKind::Int128,
            TokenKind::KwInt128T => BasicKind::Int128,
            TokenKind::KwUInt128T => BasicKind::UInt128,
            TokenKind::KwFloat16 => BasicKind::Float16,
            TokenKind::KwBf16 => BasicKind::BFloat16,
            TokenKind::KwFloat32 => BasicKind::Float32,
            TokenKind::KwFloat64 => BasicKind::Float64,
            TokenKind::KwFloat128 => BasicKind::Float128,
            TokenKind::KwFloat32x => BasicKind::Float32x,
            TokenKind::KwFloat64x => BasicKind::Float64x,
            TokenKind::KwBuiltinVaList => BasicKind::VaList,
            _ => {
                let count = match kind {
                    TokenKind::KwSigned => &mut self.signed,
                    TokenKind::KwUnsigned => &mut self.unsigned,
                    TokenKind::KwShort => &mut self.short,
                    TokenKind::KwLong => &mut self.long,
                    TokenKind::KwInt => &mut self.int,
                    TokenKind::KwComplex => &mut self.complex,
                    _ => return false,
                };
                *count = count.saturating_add(1);
                self.seen = true;
                return true;
            }
        };
        self.clash |= self.main.replace(main).is_some();
        self.seen = true;
        true
    }

    /// The type these words make.
    fn basic(self) -> Option<Basic> {
        let Words { signed, unsigned, short, long, int, complex, main, clash, seen: _ } = self;
        let repeated = signed > 1 || unsigned > 1 || short > 1 || int > 1 || complex > 1;
        if clash || repeated || (signed > 0 && unsigned > 0) || (short > 0 && long > 0) {
            return None;
        }
        let is_unsigned = unsigned > 0;
        let either = |yes: BasicKind, no: BasicKind| Some(if is_unsigned { yes } else { no });
        let has_sign = signed + unsigned > 0;
        let has_size = short + long + int > 0;
        let kind = match main {
            None if short > 0 => either(BasicKind::UShort, BasicKind::Short),
            None if long == 1 => either(BasicKind::ULong, BasicKind::Long),
            None if long == 2 => either(BasicKind::ULongLong, BasicKind::LongLong),
            None if long > 2 => None,
            None if has_sign || int > 0 => either(BasicKind::UInt, BasicKind::Int),
            // GNU: `_Complex` alone is `_Complex double`.
            None => Some(BasicKind::Double),
            Some(BasicKind::Char) if !has_size && has_sign => {
                either(BasicKind::UChar, BasicKind::SChar)
            }
            Some(BasicKind::Int128) if !has_size => either(BasicKind::UInt128, BasicKind::Int128),
            Some(BasicKind::Double) if long == 1 && short + int == 0 && !has_sign => {
                Some(BasicKind::LongDouble)
            }
            Some(kind) if !has_size && !has_sign => Some(kind),
            Some(_) => None,
        }?;
        Some(Basic { kind, complex: complex > 0 })
    }
}

/// `typedef float _Float32;`, as the C library tells compilers that lack the type: here it is a
/// keyword already, and nothing is left to declare.
fn is_known_type(draft: &Draft, kind: TokenKind, next: TokenKind) -> bool {
    let is_sized = matches!(
        kind,
        TokenKind::KwFloat16
            | TokenKind::KwFloat32
            | TokenKind::KwFloat64
            | TokenKind::KwFloat128
            | TokenKind::KwFloat32x
            | TokenKind::KwFloat64x
    );
    is_sized
        && next == TokenKind::Semicolon
        && draft.storage == Some(Storage::Typedef)
        && draft.words.seen
}

/// Specifiers as far as they are read.
struct Draft {
    storage: Option<Storage>,
    thread_local: bool,
    inline: bool,
    noreturn: bool,
    extension: bool,
    quals: Quals,
    words: Words,
    other: Option<TypeSpec>,
    alignas: Vec<AlignAs>,
    attrs: Vec<AttrId>,
}

impl Draft {
    fn has_type(&self) -> bool {
        self.words.seen || self.other.is_some()
    }
}

impl Parser<'_> {
    /// Whether a type name, as in a cast, begins here.
    pub fn is_type_name_start(&self) -> bool {
        self.starts_type(self.token())
    }

    /// Whether a token is the first of a type.
    #[inline]
    pub(super) fn starts_type(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Ident => self.scopes.is_type(token.name),
            TokenKind::KwVoid
            | TokenKind::KwBool
            | TokenKind::KwChar
            | TokenKind::KwShort
            | TokenKind::KwInt
            | TokenKind::KwLong
            | TokenKind::KwSigned
            | TokenKind::KwUnsigned
            | TokenKind::KwFloat
            | TokenKind::KwDouble
            | TokenKind::KwComplex
            | TokenKind::KwImaginary
            | TokenKind::KwInt128
            | TokenKind::KwInt128T
            | TokenKind::KwUInt128T
            | TokenKind::KwFloat16
            | TokenKind::KwBf16
            | TokenKind::KwFloat32
            | TokenKind::KwFloat64
            | TokenKind::KwFloat128
            | TokenKind::KwFloat32x
            | TokenKind::KwFloat64x
            | TokenKind::KwBuiltinVaList
            | TokenKind::KwStruct
            | TokenKind::KwUnion
            | TokenKind::KwEnum
            | TokenKind::KwTypeof
            | TokenKind::KwTypeofUnqual
            | TokenKind::KwAutoType
            | TokenKind::KwAtomic
            | TokenKind::KwConst
            | TokenKind::KwVolatile
            | TokenKind::KwRestrict
            | TokenKind::KwAttribute => true,
            _ => false,
        }
    }

    /// Whether a token is the first of a declaration's specifiers.
    pub(super) fn starts_specs(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::KwTypedef
            | TokenKind::KwExtern
            | TokenKind::KwStatic
            | TokenKind::KwAuto
            | TokenKind::KwRegister
            | TokenKind::KwThreadLocal
            | TokenKind::KwInline
            | TokenKind::KwNoreturn
            | TokenKind::KwAlignas => true,
            _ => self.starts_type(token),
        }
    }

    /// ```text
    /// specifiers = {storage-class | qualifier | type-specifier | function-specifier
    ///            | alignment-specifier | attribute | "__extension__"}
    /// ```
    pub(super) fn specifiers(&mut self, place: Where) -> SpecsId {
        let start = self.span();
        let mut draft = Draft {
            storage: None,
            thread_local: false,
            inline: false,
            noreturn: false,
            extension: false,
            quals: Quals::default(),
            words: Words::default(),
            other: None,
            alignas: Vec::new(),
            attrs: Vec::new(),
        };
        if self.enter() {
            while !self.recovering && self.specifier(&mut draft, place) {}
            self.leave();
        }
        let span = self.since(start);
        let ty = self.base_type(&draft, place, start, span);
        let specs = Specs {
            storage: draft.storage,
            thread_local: draft.thread_local,
            inline: draft.inline,
            noreturn: draft.noreturn,
            extension: draft.extension,
            quals: draft.quals,
            ty,
            alignas: draft.alignas.into(),
            attrs: draft.attrs.into(),
            span,
        };
        self.tree.specs.push(specs)
    }

    fn base_type(&mut self, draft: &Draft, place: Where, start: Span, span: Span) -> TypeSpec {
        match (draft.other, draft.words.seen) {
            (Some(ty), false) => ty,
            (Some(_), true) => {
                self.fault(messages::conflicting_types(span));
                TypeSpec::Error
            }
            (None, true) => match draft.words.basic() {
                Some(basic) => TypeSpec::Basic(basic),
                None => {
                    self.fault(messages::conflicting_types(span));
                    TypeSpec::Error
                }
            },
            (None, false) if self.recovering => TypeSpec::Error,
            (None, false) => self.missing_type(place, start),
        }
    }

    /// No type was written. In old C that is `int`, where specifiers or a declarator are there.
    fn missing_type(&mut self, place: Where, start: Span) -> TypeSpec {
        let has_specs = self.prev_span().start >= start.start && self.prev_span() != Span::NONE;
        let has_declarator = matches!(self.peek(), TokenKind::Ident | TokenKind::Star);
        if place == Where::Declaration && (has_specs || has_declarator) {
            let shown = if has_specs { self.since(start) } else { self.span() };
            self.fault(messages::missing_type(shown));
            return TypeSpec::Missing;
        }
        let is_empty_member = place == Where::Member && self.at(TokenKind::Semicolon);
        if has_specs && (place == Where::Parameter || is_empty_member) {
            self.fault(messages::missing_type(self.since(start)));
            return TypeSpec::Missing;
        }
        self.expected(if place == Where::Declaration { "a declaration" } else { "a type" });
        TypeSpec::Error
    }

    /// Takes one specifier; false if none stands here.
    fn specifier(&mut self, draft: &mut Draft, place: Where) -> bool {
        let token = self.token();
        if draft.other.is_some() && self.at_next_declaration() {
            return false;
        }
        if is_known_type(draft, token.kind, self.peek_at(1)) {
            self.bump();
            return true;
        }
        if draft.words.add(token.kind) {
            self.bump();
            return true;
        }
        match token.kind {
            TokenKind::Ident => return self.type_word(draft, place, token),
            TokenKind::KwConst => draft.quals.is_const = true,
            TokenKind::KwVolatile => draft.quals.is_volatile = true,
            TokenKind::KwRestrict => draft.quals.is_restrict = true,
            TokenKind::KwInline => draft.inline = true,
            TokenKind::KwNoreturn => draft.noreturn = true,
            TokenKind::KwThreadLocal => draft.thread_local = true,
            TokenKind::KwExtension => draft.extension = true,
            TokenKind::KwTypedef => self.storage(draft, Storage::Typedef),
            TokenKind::KwExtern => self.storage(draft, Storage::Extern),
            TokenKind::KwStatic => self.storage(draft, Storage::Static),
            TokenKind::KwAuto => self.storage(draft, Storage::Auto),
            TokenKind::KwRegister => self.storage(draft, Storage::Register),
            TokenKind::KwAutoType => self.other_type(draft, TypeSpec::AutoType),
            TokenKind::KwImaginary => {
                self.fault(messages::unsupported_keyword("_Imaginary", token.span()));
                self.other_type(draft, TypeSpec::Error);
            }
            TokenKind::KwAtomic if self.peek_at(1) == TokenKind::LParen => {
                self.bump();
                let ty = self.type_in_parens();
                self.other_type(draft, TypeSpec::Atomic(ty));
                return true;
            }
            TokenKind::KwAtomic => draft.quals.is_atomic = true,
            TokenKind::KwStruct | TokenKind::KwUnion => {
                let record = self.record();
                self.other_type(draft, TypeSpec::Record(record));
                return true;
            }
            TokenKind::KwEnum => {
                let enumeration = self.enumeration();
                self.other_type(draft, TypeSpec::Enum(enumeration));
                return true;
            }
            TokenKind::KwTypeof | TokenKind::KwTypeofUnqual => {
                let ty = self.typeof_specifier();
                self.other_type(draft, ty);
                return true;
            }
            TokenKind::KwAlignas => {
                let alignment = self.alignas();
                draft.alignas.extend(alignment);
                return true;
            }
            TokenKind::KwAttribute => {
                self.attributes_into(&mut draft.attrs);
                return true;
            }
            TokenKind::LBracket if self.at_standard_attribute() => {
                self.attributes_into(&mut draft.attrs);
                return true;
            }
            _ => return false,
        }
        self.bump();
        true
    }

    /// Whether the `;` behind a record or enumeration was forgotten: another type begins here, on
    /// a line of its own.
    pub(super) fn at_next_declaration(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if !self.token().starts_line || before.is_none_or(|it| it.kind != TokenKind::RBrace) {
            return false;
        }
        let mut ahead = 0;
        while matches!(
            self.peek_at(ahead),
            TokenKind::KwStatic
                | TokenKind::KwExtern
                | TokenKind::KwTypedef
                | TokenKind::KwInline
                | TokenKind::KwConst
        ) {
            ahead += 1;
        }
        let kind = self.peek_at(ahead);
        matches!(kind, TokenKind::KwStruct | TokenKind::KwUnion | TokenKind::KwEnum)
            || Words::default().add(kind)
    }

    fn storage(&mut self, draft: &mut Draft, storage: Storage) {
        if draft.storage.is_some_and(|it| it != storage) {
            self.fault(messages::two_storage_classes(self.span()));
        }
        draft.storage = Some(storage);
    }

    fn other_type(&mut self, draft: &mut Draft, ty: TypeSpec) {
        if draft.has_type() {
            let span = self.prev_span();
            self.fault(messages::conflicting_types(span));
        }
        draft.other = Some(ty);
    }

    /// A name among the specifiers: a typedef, a type nobody declared, or already the declarator.
    fn type_word(&mut self, draft: &mut Draft, place: Where, token: Token) -> bool {
        if draft.has_type() {
            return false;
        }
        // In front of a type, a word that nobody knows belongs to some other compiler.
        let is_extra = Words::default().add(self.peek_at(1));
        draft.other = match self.scopes.get(token.name) {
            Binding::Type => Some(TypeSpec::Typedef(token.name)),
            Binding::UnknownType => (!is_extra).then_some(TypeSpec::Error),
            Binding::Unknown | Binding::Value if self.is_unknown_type(place) => {
                self.unknown_type(Ident { name: token.name, span: token.span() });
                (!is_extra).then_some(TypeSpec::Error)
            }
            Binding::Unknown | Binding::Value => return false,
        };
        self.bump();
        true
    }

    /// Reports a type that nobody declared, once: what follows is most likely all right, and is
    /// read as if the type were known.
    pub(super) fn unknown_type(&mut self, ident: Ident) {
        if !self.recovering {
            let fault = messages::unknown_type_name(self.text(ident.name), ident.span);
            self.faults.push(fault);
        }
        if self.scopes.get(ident.name) == Binding::Unknown {
            self.scopes.set_unknown_type(ident.name);
        }
    }

    /// Whether a name that is no type stands where only a type makes sense.
    fn is_unknown_type(&self, place: Where) -> bool {
        let next = self.peek_at(1);
        match place {
            Where::TypeName | Where::Member | Where::Parameter => true,
            Where::Declaration => match next {
                TokenKind::Ident => true,
                TokenKind::Star => matches!(
                    self.peek_at(2),
                    TokenKind::Ident | TokenKind::Star | TokenKind::KwConst | TokenKind::KwRestrict
                ),
                kind => self.starts_type(self.token_at(1)) && kind != TokenKind::KwAttribute,
            },
        }
    }

    /// `("typeof" | "typeof_unqual") "(" (expression | type-name) ")"`
    fn typeof_specifier(&mut self) -> TypeSpec {
        let is_unqualified = self.at(TokenKind::KwTypeofUnqual);
        self.bump();
        let open = self.span();
        if !self.expect(TokenKind::LParen) {
            return TypeSpec::Error;
        }
        let ty = match (self.is_type_name_start(), is_unqualified) {
            (true, false) => TypeSpec::TypeofType(self.type_name()),
            (true, true) => TypeSpec::TypeofUnqualType(self.type_name()),
            (false, false) => TypeSpec::TypeofExpr(self.expression()),
            (false, true) => TypeSpec::TypeofUnqualExpr(self.expression()),
        };
        self.expect_close(TokenKind::LParen, open);
        ty
    }

    /// `"_Alignas" "(" (type-name | constant-expression) ")"`
    fn alignas(&mut self) -> Option<AlignAs> {
        self.bump();
        let open = self.span();
        if !self.expect(TokenKind::LParen) {
            return None;
        }
        let alignment = if self.is_type_name_start() {
            AlignAs::Type(self.type_name())
        } else {
            AlignAs::Expr(self.conditional_expression())
        };
        self.expect_close(TokenKind::LParen, open);
        Some(alignment)
    }

    /// ```text
    /// type-name = specifiers abstract-declarator
    /// ```
    pub fn type_name(&mut self) -> TypeNameId {
        if self.in_pragma && self.last_fault != self.at {
            self.recovering = false;
        }
        let start = self.span();
        let specs = self.specifiers(Where::TypeName);
        let declarator = self.abstract_declarator();
        let span = self.since(start);
        self.tree.type_names.push(TypeName { specs, declarator, span })
    }

    /// `"(" type-name ")"`
    pub(super) fn type_in_parens(&mut self) -> TypeNameId {
        let open = self.span();
        self.expect(TokenKind::LParen);
        let ty = self.type_name();
        self.expect_close(TokenKind::LParen, open);
        ty
    }
}
