//! What stands directly behind the words of a directive: lists, names, user's reductions.

use ir::construct::{Args, CancelKind, MapperDecl, ReductionDecl, Spelled, VariantDecl};
use syntax::TokenKind;

use super::sharing::{read_op, write_op};
use super::words::list;
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::{ArgsRow, Choices};

const CANCELS: Choices<CancelKind> = Choices {
    what: "a construct to cancel",
    words: &[
        ("parallel", CancelKind::Parallel),
        ("sections", CancelKind::Sections),
        ("for", CancelKind::For),
        ("taskgroup", CancelKind::Taskgroup),
    ],
};

/// `(a, b)`
pub(super) const ITEMS: ArgsRow = ArgsRow {
    read: |r| Ok(Args::Items(r.parens(Reader::items)?)),
    write: write_items,
    samples: &["($v)", "($v, $v)"],
};

/// `(a, b)`, or nothing.
pub(super) const MAYBE_ITEMS: ArgsRow = ArgsRow {
    read: |r| {
        if r.p.at(TokenKind::LParen) { (ITEMS.read)(r) } else { Ok(Args::None) }
    },
    write: |args| if *args == Args::None { Some(String::new()) } else { write_items(args) },
    samples: &["", "($v)", "($v, $v)"],
};

fn write_items(args: &Args<Spelled>) -> Option<String> {
    let Args::Items(items) = args else { return None };
    Some(list(items))
}

/// `(name)`, or nothing.
pub(super) const MAYBE_NAME: ArgsRow = ArgsRow {
    read: |r| {
        if !r.p.at(TokenKind::LParen) {
            return Ok(Args::None);
        }
        Ok(Args::Name(r.parens(|r| r.ident("a name"))?.name))
    },
    write: |args| match args {
        Args::None => Some(String::new()),
        Args::Name(name) => Some(format!("({name})")),
        _ => None,
    },
    samples: &["", "(some_name)"],
};

/// `(variant)`, `(base : variant)`
pub(super) const VARIANT: ArgsRow = ArgsRow {
    read: |r| r.parens(read_variant),
    write: |args| {
        let Args::Variant(it) = args else { return None };
        let base = it.base.as_ref().map(|it| format!("{it} : ")).unwrap_or_default();
        Some(format!("({base}{})", it.variant))
    },
    samples: &["(some_name)", "(base_name : some_name)"],
};

fn read_variant(r: &mut Reader<'_, '_>) -> Read<Args<Written>> {
    let first = r.ident("the name of a function")?.name;
    if !r.p.eat(TokenKind::Colon) {
        return Ok(Args::Variant(VariantDecl { base: None, variant: first }));
    }
    let variant = r.ident("the name of the variant")?.name;
    Ok(Args::Variant(VariantDecl { base: Some(first), variant }))
}

/// `(object)`, or nothing.
pub(super) const MAYBE_OBJECT: ArgsRow = ArgsRow {
    read: |r| {
        let has_object = r.p.at(TokenKind::LParen);
        if has_object { Ok(Args::Object(r.parens(Reader::item)?)) } else { Ok(Args::None) }
    },
    write: |args| match args {
        Args::None => Some(String::new()),
        Args::Object(object) => Some(format!("({object})")),
        _ => None,
    },
    samples: &["($v)"],
};

/// `parallel`, what is cancelled.
pub(super) const CANCEL: ArgsRow = ArgsRow {
    read: |r| Ok(Args::Cancel(r.choice(&CANCELS)?)),
    write: |args| {
        let Args::Cancel(kind) = args else { return None };
        Some(format!(" {}", CANCELS.word(kind)?))
    },
    samples: &[" parallel", " sections", " for", " taskgroup"],
};

/// `(name : types : combiner)`
pub(super) const REDUCTION: ArgsRow = ArgsRow {
    read: |r| r.parens(read_reduction),
    write: write_reduction,
    samples: &[
        "(my_add : int, double * : omp_out = omp_out + omp_in)",
        "(+ : struct pair : f(&omp_out, &omp_in))",
        "(my_add : unsigned long)",
    ],
};

/// `(name : types)`
pub(super) const INDUCTION: ArgsRow =
    ArgsRow { samples: &["(my_step : int, float)", "(* : struct pair)"], ..REDUCTION };

fn read_reduction(r: &mut Reader<'_, '_>) -> Read<Args<Written>> {
    let name = read_op(r)?;
    r.expect(TokenKind::Colon)?;
    let types = r.list(|r| r.clean(|p| p.type_name()))?;
    let has_combiner = r.p.eat(TokenKind::Colon);
    let combiner = if has_combiner { Some(r.clean(|p| p.expression())?) } else { None };
    Ok(Args::Reduction(Box::new(ReductionDecl { name, types, combiner })))
}

fn write_reduction(args: &Args<Spelled>) -> Option<String> {
    let Args::Reduction(it) = args else { return None };
    let combiner = it.combiner.as_ref().map(|it| format!(" : {it}")).unwrap_or_default();
    Some(format!("({} : {}{combiner})", write_op(&it.name), it.types.join(", ")))
}

/// `(name : type var)`
pub(super) const MAPPER: ArgsRow = ArgsRow {
    read: |r| r.parens(read_mapper),
    write: |args| {
        let Args::Mapper(it) = args else { return None };
        let name = it.name.as_ref().map(|it| format!("{it} : ")).unwrap_or_default();
        Some(format!("({name}{} {})", it.ty, it.var))
    },
    samples: &["(struct pair v)", "(deep : struct pair v)", "(default : struct pair *v)"],
};

fn read_mapper(r: &mut Reader<'_, '_>) -> Read<Args<Written>> {
    let is_named = r.p.word().is_some() && r.p.peek_at(1) == TokenKind::Colon;
    let name = if is_named { Some(r.any_word("the mapper's name")?) } else { None };
    if is_named {
        r.expect(TokenKind::Colon)?;
    }
    let ty = r.clean(|p| p.type_name())?;
    let var = r.ident("the name of the mapped object")?;
    // The clauses that follow speak of it, whatever its name means outside.
    r.p.declare(var);
    Ok(Args::Mapper(Box::new(MapperDecl { name, ty, var: var.name })))
}
