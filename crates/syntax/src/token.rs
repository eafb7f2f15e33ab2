//! Tokens: what the lexer gives to the parser.
//!
//! A token is sixteen bytes. Keywords are interned before anything else, in the order of
//! [`KEYWORDS`], so that the name of a word tells at once which keyword it is.

use source::{Name, Names, Span};

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Where it starts, in the address space of the source map.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
    /// Spelling of a word or literal; of a pragma, the text after `#pragma`.
    pub name: Name,
    /// What it is.
    pub kind: TokenKind,
    /// Whether it is the first of its line.
    pub starts_line: bool,
}

impl Token {
    /// Where it stands.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.start.saturating_add(self.len) }
    }
}

macro_rules! token_kinds {
    (special { $($special:ident $special_text:literal)* }
     punctuators { $($punct:ident $punct_text:literal)* }
     keywords { $($keyword:ident $first:literal $(| $other:literal)* ;)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are the documentation")]
        pub enum TokenKind {
            $($special,)*
            $($punct,)*
            $($keyword,)*
        }

        impl TokenKind {
            /// How a message names it.
            pub fn describe(self) -> &'static str {
                match self {
                    $(TokenKind::$special => $special_text,)*
                    $(TokenKind::$punct => concat!("`", $punct_text, "`"),)*
                    $(TokenKind::$keyword => concat!("`", $first, "`"),)*
                }
            }
        }

        /// All spellings of keywords. The name of the first has index 1; index 0 is the empty name.
        pub(crate) const KEYWORDS: &[(&str, TokenKind)] = &[
            $(($first, TokenKind::$keyword), $(($other, TokenKind::$keyword),)*)*
        ];
    };
}

token_kinds! {
    special {
        Ident "a name"
        Number "a number"
        Char "a character constant"
        Str "a string"
        Pragma "a pragma"
        PragmaEnd "the end of the line"
        Eof "the end of the file"
        Error "unreadable text"
    }
    punctuators {
        LParen "("
        RParen ")"
        LBracket "["
        RBracket "]"
        LBrace "{"
        RBrace "}"
        Comma ","
        Semicolon ";"
        Colon ":"
        Question "?"
        Dot "."
        Arrow "->"
        Ellipsis "..."
        Tilde "~"
        Not "!"
        NotEqual "!="
        Equal "="
        EqualEqual "=="
        Less "<"
        LessEqual "<="
        LessLess "<<"
        LessLessEqual "<<="
        Greater ">"
        GreaterEqual ">="
        GreaterGreater ">>"
        GreaterGreaterEqual ">>="
        Plus "+"
        PlusPlus "++"
        PlusEqual "+="
        Minus "-"
        MinusMinus "--"
        MinusEqual "-="
        Star "*"
        StarEqual "*="
        Slash "/"
        SlashEqual "/="
        Percent "%"
        PercentEqual "%="
        Amp "&"
        AmpAmp "&&"
        AmpEqual "&="
        Pipe "|"
        PipePipe "||"
        PipeEqual "|="
        Caret "^"
        CaretEqual "^="
        Hash "#"
        HashHash "##"
    }
    keywords {
        KwAlignas "_Alignas";
        KwAlignof "_Alignof" | "__alignof__" | "__alignof";
        KwAsm "__asm__" | "asm" | "__asm";
        KwAtomic "_Atomic";
        KwAttribute "__attribute__" | "__attribute";
        KwAuto "auto";
        KwAutoType "__auto_type";
        KwBf16 "__bf16";
        KwBool "_Bool";
        KwBreak "break";
        KwBuiltinChooseExpr "__builtin_choose_expr";
        KwBuiltinConvertVector "__builtin_convertvector";
        KwBuiltinOffsetof "__builtin_offsetof";
        KwBuiltinTypesCompatible "__builtin_types_compatible_p";
        KwBuiltinVaArg "__builtin_va_arg";
        KwBuiltinVaList "__builtin_va_list";
        KwCase "case";
        KwChar "char";
        KwComplex "_Complex" | "__complex__" | "__complex";
        KwConst "const" | "__const" | "__const__";
        KwContinue "continue";
        KwDefault "default";
        KwDo "do";
        KwDouble "double";
        KwElse "else";
        KwEnum "enum";
        KwExtension "__extension__";
        KwExtern "extern";
        KwFloat "float";
        KwFloat128 "_Float128" | "__float128";
        KwFloat16 "_Float16";
        KwFloat32 "_Float32";
        KwFloat32x "_Float32x";
        KwFloat64 "_Float64";
        KwFloat64x "_Float64x";
        KwFor "for";
        KwGeneric "_Generic";
        KwGoto "goto";
        KwIf "if";
        KwImag "__imag__" | "__imag";
        KwImaginary "_Imaginary";
        KwInline "inline" | "__inline" | "__inline__";
        KwInt "int";
        KwInt128 "__int128";
        KwInt128T "__int128_t";
        KwLabel "__label__";
        KwLong "long";
        KwNoreturn "_Noreturn";
        KwPragma "_Pragma";
        KwReal "__real__" | "__real";
        KwRegister "register";
        KwRestrict "restrict" | "__restrict" | "__restrict__";
        KwReturn "return";
        KwShort "short";
        KwSigned "signed" | "__signed__" | "__signed";
        KwSizeof "sizeof";
        KwStatic "static";
        KwStaticAssert "_Static_assert";
        KwStruct "struct";
        KwSwitch "switch";
        KwThreadLocal "_Thread_local" | "__thread";
        KwTypedef "typedef";
        KwTypeof "typeof" | "__typeof__" | "__typeof";
        KwTypeofUnqual "typeof_unqual" | "__typeof_unqual__" | "__typeof_unqual";
        KwUInt128T "__uint128_t";
        KwUnion "union";
        KwUnsigned "unsigned";
        KwVoid "void";
        KwVolatile "volatile" | "__volatile__" | "__volatile";
        KwWhile "while";
    }
}

impl TokenKind {
    /// Whether it is a name or a keyword.
    pub fn is_word(self) -> bool {
        self == TokenKind::Ident || self.is_keyword()
    }

    /// Whether it is a keyword of C or of GNU C.
    pub fn is_keyword(self) -> bool {
        self >= TokenKind::KwAlignas
    }

    /// Whether nothing follows on this line of a pragma, or in this file.
    pub fn is_end(self) -> bool {
        matches!(self, TokenKind::PragmaEnd | TokenKind::Eof)
    }
}

/// Interns the keywords into an empty table.
pub(crate) fn names_with_keywords() -> Names {
    let mut names = Names::new();
    names.intern("");
    for (spelling, _) in KEYWORDS {
        names.intern(spelling);
    }
    names
}

/// The kind of a word with this name.
#[inline]
pub(crate) fn word_kind(name: Name) -> TokenKind {
    match KEYWORDS.get(name.index().wrapping_sub(1)) {
        Some(&(_, kind)) => kind,
        None => TokenKind::Ident,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sixteen_bytes() {
        assert!(size_of::<Token>() <= 16);
    }

    #[test]
    fn keywords_are_known_by_their_names() {
        let mut names = names_with_keywords();
        for &(spelling, kind) in KEYWORDS {
            assert_eq!(word_kind(names.intern(spelling)), kind, "{spelling}");
            assert!(kind.is_keyword() && kind.is_word());
        }
        assert_eq!(word_kind(names.intern("x")), TokenKind::Ident);
        assert_eq!(word_kind(names.intern("")), TokenKind::Ident);
        assert!(!TokenKind::HashHash.is_word());
    }
}
