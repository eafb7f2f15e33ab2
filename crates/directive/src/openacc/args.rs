//! What stands directly behind the name of a directive of OpenACC.

use ir::construct::Args;
use syntax::TokenKind;

use super::forms::{queues, queues_text};
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::ArgsRow;

/// `cache(readonly: a[0:n])`
pub(super) const CACHE_LIST: ArgsRow = ArgsRow {
    read: |r| {
        r.parens(|r| {
            if r.eat_word_colon("readonly") {
                return Ok(Args::ReadonlyItems(r.items()?));
            }
            if r.colon_ahead() {
                return Err(r.unknown_modifier(&["readonly"]));
            }
            Ok(Args::Items(r.items()?))
        })
    },
    write: |args| match args {
        Args::Items(items) => Some(format!("({})", items.join(", "))),
        Args::ReadonlyItems(items) => Some(format!("(readonly: {})", items.join(", "))),
        _ => None,
    },
    samples: &["(a[0:8])", "(readonly: a[0:8], b[i])"],
};

/// `routine(f)`; without it the directive is for the declaration that follows.
pub(super) const FUNCTION_NAME: ArgsRow = ArgsRow {
    read: |r| optional(r, |r| Ok(Args::Name(r.ident("the name of a function")?.name))),
    write: |args| match args {
        Args::None => Some(String::new()),
        Args::Name(name) => Some(format!("({name})")),
        _ => None,
    },
    samples: &["", "(f)"],
};

/// `wait(devnum: d : queues: a, b)`
pub(super) const QUEUES: ArgsRow = ArgsRow {
    read: |r| optional(r, |r| Ok(Args::Wait(queues(r)?))),
    write: |args| match args {
        Args::None => Some(String::new()),
        Args::Wait(wait) => Some(queues_text(wait)),
        _ => None,
    },
    samples: &["", "(1)", "(i, 2)", "(queues: i)", "(devnum: 0 : 1)", "(devnum: 0 : queues: 1, 2)"],
};

/// What stands in parentheses, if they stand here.
fn optional(
    r: &mut Reader<'_, '_>,
    read: impl FnOnce(&mut Reader<'_, '_>) -> Read<Args<Written>>,
) -> Read<Args<Written>> {
    if r.p.at(TokenKind::LParen) { r.parens(read) } else { Ok(Args::None) }
}
