//! Memory as text, for tests that compare it.

use ir::program::VarId;
use ir::types::{Ty, TypeKind};

use super::Machine;
use super::value::{Scalar, Value, scalar};

impl Machine<'_> {
    /// What a variable from outside holds, as C would initialise it; nothing if nobody has named it.
    pub fn show(&self, var: VarId) -> Option<String> {
        let at = *self.globals.get(&var)?;
        Some(self.shown(at, self.program.vars.find(var)?.ty))
    }

    fn shown(&self, at: u64, ty: Ty) -> String {
        let types = &self.program.types;
        let size = |ty: Ty| self.layouts.size_of(types, ty).unwrap_or(0);
        if let (TypeKind::Array(..), Some(element)) = (types.shape(ty), types.element(ty)) {
            let each = size(element);
            let count = size(ty).checked_div(each).unwrap_or(0);
            let parts: Vec<String> =
                (0..count).map(|it| self.shown(at + it * each, element)).collect();
            return format!("{{{}}}", parts.join(", "));
        }
        if let Some(record) = types.record_of(ty)
            && let Ok(layout) = self.layouts.record(types, record)
            && let Some(fields) = &types.records[record].fields
        {
            let plain = layout.fields.iter().zip(fields).filter(|it| it.0.bit_width.is_none());
            let parts: Vec<String> =
                plain.map(|(place, field)| self.shown(at + place.offset, field.ty)).collect();
            return format!("{{{}}}", parts.join(", "));
        }
        let kind = scalar(types, self.program.model, ty);
        let bytes = self.memory.peek(at, size(ty)).map(<[u8]>::to_vec);
        let (Ok(kind), Ok(bytes)) = (kind, bytes) else { return "?".to_owned() };
        let known = vec![true; bytes.len()];
        match (Value::load(bytes, known, kind), types.is_pointer(ty)) {
            (Ok(Value::Int(0)), true) => "0".to_owned(),
            (Ok(_), true) => "&".to_owned(),
            (Ok(Value::Int(it)), false) if kind == Scalar::Bool => (it != 0).to_string(),
            (Ok(Value::Int(it)), false) => it.to_string(),
            (Ok(Value::Float(it)), false) => it.to_string(),
            (Ok(Value::Complex(a, b)), false) => format!("{a} + {b}i"),
            (Ok(Value::Void | Value::Bytes(..)) | Err(_), _) => "?".to_owned(),
        }
    }
}
