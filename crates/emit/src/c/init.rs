//! Initialisers.
//!
//! Positions are written as designators where they are not simply the next; members of records
//! always are, by name. Members of an anonymous record are reached through it, as C allows.

use ir::program::{ExprId, ExprKind, Init, InitElement, InitId};
use ir::types::{RecordId, Ty};
use syntax::print::Level;

use super::Printer;

impl Printer<'_> {
    /// The initialiser of an object of type `ty`, as it stands behind the `=`.
    pub fn init(&self, id: InitId, ty: Ty) -> String {
        match self.program.inits.find(id) {
            // The characters themselves, wherever strings lie.
            Some(Init::Expr(e)) if self.program.types.is_array(ty) => self.characters(*e, ty),
            Some(Init::Expr(e)) => {
                let mut text = String::new();
                self.put_assigned(*e, ty, Level::Assign, &mut text);
                text
            }
            Some(Init::List(ty, elements)) => self.list(*ty, elements),
            None => "{}".to_owned(),
        }
    }

    /// The same where the type of the object is not known: conversions are written.
    pub(super) fn init_alone(&self, id: InitId) -> String {
        match self.program.inits.find(id) {
            Some(Init::Expr(e)) => self.operand(*e, Level::Assign),
            Some(Init::List(ty, elements)) => self.list(*ty, elements),
            None => "{}".to_owned(),
        }
    }

    fn list(&self, ty: Ty, elements: &[InitElement]) -> String {
        let types = &self.program.types;
        let mut parts: Vec<String> = Vec::new();
        if let Some(record) = types.record_of(ty) {
            match self.is_cpp() {
                _ if self.split_layout(record).is_some() => {
                    self.members_in_bytes(record, elements, &mut parts);
                }
                true => self.members_in_order(record, elements, &mut parts),
                false => self.members(record, elements, &mut parts),
            }
        } else if let Some(element) = types.element(ty).filter(|_| self.is_cpp()) {
            // In any order, and the last that is given of each.
            for it in elements {
                let value = self.init(it.value, element);
                let (first, last) = (it.first as usize, it.last as usize);
                if parts.len() <= last {
                    parts.resize(last + 1, "{}".to_owned());
                }
                parts.iter_mut().take(last + 1).skip(first).for_each(|it| it.clone_from(&value));
            }
        } else if let Some(element) = types.element(ty) {
            let mut next = 0;
            for it in elements {
                let value = self.init(it.value, element);
                parts.push(if it.first != it.last {
                    format!("[{} ... {}] = {value}", it.first, it.last)
                } else if it.first != next && types.is_array(ty) {
                    format!("[{}] = {value}", it.first)
                } else {
                    value
                });
                next = it.last.saturating_add(1);
            }
        } else {
            // A scalar in braces.
            parts.extend(elements.iter().map(|it| self.init(it.value, ty)));
        }
        match parts.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ {} }}", parts.join(", ")),
        }
    }

    /// A string that fills an array.
    fn characters(&self, e: ExprId, ty: Ty) -> String {
        match self.program.exprs.find(e).map(|it| &it.kind) {
            Some(ExprKind::Str(pieces)) => self.filling(pieces, ty),
            _ => self.operand(e, Level::Assign),
        }
    }

    /// Members one after the other, with nothing for those that are not given; of a union the one that
    /// is.
    fn members_in_order(
        &self,
        record: RecordId,
        elements: &[InitElement],
        parts: &mut Vec<String>,
    ) {
        let Some(record_type) = self.program.types.records.find(record) else { return };
        let fields = record_type.fields.as_deref().unwrap_or_default();
        let given = |at: usize| elements.iter().find(|it| usize::try_from(it.first) == Ok(at));
        if record_type.is_union {
            let all = fields.iter().enumerate();
            if let Some((at, field, it)) =
                all.filter_map(|(at, f)| Some((at, f, given(at)?))).next()
            {
                let name = u32::try_from(at).ok().and_then(|at| self.field_name(record, at));
                let value = self.init(it.value, field.ty);
                // Older C++ has no names in lists.
                parts.push(match at {
                    0 => value,
                    _ => format!(".{} = {value}", name.unwrap_or_default()),
                });
            }
            return;
        }
        let last = elements.iter().filter_map(|it| usize::try_from(it.first).ok()).max();
        for (at, field) in fields.iter().enumerate().take(last.map_or(0, |it| it + 1)) {
            // Bits without a name are nobody's member.
            if field.name.is_none() && field.bits.is_some() {
                continue;
            }
            let value = given(at).map(|it| self.init(it.value, field.ty));
            parts.push(value.unwrap_or_else(|| "{}".to_owned()));
        }
    }

    pub(super) fn members(
        &self,
        record: RecordId,
        elements: &[InitElement],
        parts: &mut Vec<String>,
    ) {
        let fields = self.program.types.records.find(record).and_then(|it| it.fields.as_ref());
        for it in elements {
            let field = usize::try_from(it.first).ok().and_then(|at| fields?.get(at));
            let Some(field) = field else { continue };
            if let Some(name) = field.name {
                let value = self.init(it.value, field.ty);
                parts.push(format!(".{} = {value}", self.member_word(name)));
                continue;
            }
            match (self.program.inits.find(it.value), self.program.types.record_of(field.ty)) {
                (Some(Init::List(_, inner)), Some(record)) => match self.split_layout(record) {
                    Some(_) => self.members_in_bytes(record, inner, parts),
                    None => self.members(record, inner, parts),
                },
                _ => parts.push(self.init(it.value, field.ty)),
            }
        }
    }
}
