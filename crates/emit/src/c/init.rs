//! Initialisers.
//!
//! Positions are written as designators where they are not simply the next; members of records
//! always are, by name. Members of an anonymous record are reached through it, as C allows.

use ir::program::{Init, InitElement, InitId};
use ir::types::{RecordId, Ty};
use syntax::print::Level;

use super::Printer;

impl Printer<'_> {
    /// The initialiser of an object of type `ty`, as it stands behind the `=`.
    pub fn init(&self, id: InitId, ty: Ty) -> String {
        match self.program.inits.find(id) {
            Some(Init::Expr(e)) => self.operand(self.assigned(*e, ty), Level::Assign),
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
            self.members(record, elements, &mut parts);
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

    fn members(&self, record: RecordId, elements: &[InitElement], parts: &mut Vec<String>) {
        let fields = self.program.types.records.find(record).and_then(|it| it.fields.as_ref());
        for it in elements {
            let field = usize::try_from(it.first).ok().and_then(|at| fields?.get(at));
            let Some(field) = field else { continue };
            if let Some(name) = field.name {
                let value = self.init(it.value, field.ty);
                parts.push(format!(".{} = {value}", self.text(name)));
                continue;
            }
            match (self.program.inits.find(it.value), self.program.types.record_of(field.ty)) {
                (Some(Init::List(_, inner)), Some(record)) => self.members(record, inner, parts),
                _ => parts.push(self.init(it.value, field.ty)),
            }
        }
    }
}
