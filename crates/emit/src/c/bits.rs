//! Bit-fields, in a language that has none, or whose compiler lays them out in its own way: bytes where the host's compiler puts them, and functions that take a value
//! out of them and put one in.
//!
//! Members side by side that are bit-fields are one array of bytes, which reaches to the next other member or to the end
//! of the record; so all other members lie where they do on the host. In a union every bit-field has its own.

use ir::layout::RecordLayout;
use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, Init, InitElement, Program, StepOp, UnaryOp,
};
use ir::types::{IntKind, Record, RecordId, Ty, TypeKind};
use std::sync::Arc;
use syntax::print::Level;

use super::expr::binary;
use super::{Grid, Printer};

/// A run of bytes that has bit-fields.
struct Run {
    /// The bit-field that begins it.
    first: usize,
    /// From the beginning of the record.
    start: u64,
    bytes: u64,
}

/// Where a bit-field is.
pub(super) struct Bits {
    /// The array of bytes.
    name: String,
    /// From its beginning.
    bit: u64,
    width: u32,
    ty: Ty,
    /// What it is promoted to.
    value: TypeKind,
    is_signed: bool,
}

/// Whether a record has bit-fields.
pub(super) fn has_bits(record: &Record) -> bool {
    record.fields.iter().flatten().any(|it| it.bits.is_some())
}

/// Whether a record's bit-fields are bytes in the language of a grid: NVIDIA's compiler places those of packed records
/// otherwise, and does not take what those of unions begin with.
pub(crate) fn is_split(grid: Grid, record: &Record) -> bool {
    let is_packed = |record: &Record| {
        let fields = record.fields.iter().flatten();
        record.packed || record.pack.is_some() || fields.into_iter().any(|it| it.packed)
    };
    has_bits(record) && (grid.is_opencl() || is_packed(record) || record.is_union)
}

/// Whether an expression can be evaluated twice.
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not known to be pure is not")]
pub(crate) fn is_pure(program: &Program, id: ExprId) -> bool {
    match &program.exprs[id].kind {
        ExprKind::Int(_) | ExprKind::WideInt(_) | ExprKind::EnumConst(..) | ExprKind::Float(_) => {
            true
        }
        ExprKind::Var(_) | ExprKind::Sizeof(_) => true,
        ExprKind::Member(e, ..)
        | ExprKind::Deref(e)
        | ExprKind::AddrOf(e)
        | ExprKind::Cast(_, e)
        | ExprKind::Unary(_, e) => is_pure(program, *e),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            is_pure(program, *a) && is_pure(program, *b)
        }
        _ => false,
    }
}

/// The width of a bit-field that an expression names.
pub(crate) fn width_of(program: &Program, id: ExprId) -> Option<u32> {
    let ExprKind::Member(_, record, at) = program.exprs[id].kind else { return None };
    program.types.records[record].fields.as_ref()?.get(at as usize)?.bits
}

/// Whether gcc computes in as many bits as a field has that is wider than `int`, which no other compiler does.
#[allow(clippy::wildcard_enum_match_arm, reason = "all others keep the width of their types")]
pub(crate) fn computes_in_bits(program: &Program, kind: &ExprKind) -> bool {
    let value_of = |id: ExprId| {
        let mut id = id;
        while let ExprKind::Cast(CastKind::Implicit, inner) = program.exprs[id].kind {
            id = inner;
        }
        id
    };
    let is_wide = |it: ExprId| {
        let bits = width_of(program, value_of(it)).unwrap_or(0);
        bits > program.model.int_bits(IntKind::Int)
            && bits < program.model.int_bits(IntKind::LongLong)
    };
    let is_narrow = |it: ExprId| {
        let size = program.model.size_of(&program.types, program.exprs[value_of(it)].ty);
        is_wide(it) || size.is_ok_and(|it| it < 8)
    };
    match kind {
        ExprKind::Binary(BinaryOp::Shl, a, _) => is_wide(*a),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
            is_wide(*a) && is_narrow(*b) || is_wide(*b) && is_narrow(*a)
        }
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::BitNot, a) => is_wide(*a),
        _ => false,
    }
}

impl Printer<'_> {
    /// The layout of a record whose bit-fields are bytes here.
    pub(super) fn split_layout(&self, id: RecordId) -> Option<Arc<RecordLayout>> {
        let record = self.program.types.records.find(id)?;
        if !is_split(self.grid?, record) {
            return None;
        }
        self.program.model.record(&self.program.types, id).ok()
    }

    fn runs(&self, id: RecordId, layout: &RecordLayout) -> Vec<Run> {
        let types = &self.program.types;
        let Some(record) = types.records.find(id) else { return Vec::new() };
        let fields = record.fields.as_deref().unwrap_or_default();
        let (mut runs, mut end, mut first) = (Vec::new(), 0, None);
        for (at, (field, place)) in fields.iter().zip(&layout.fields).enumerate() {
            match field.bits {
                Some(bits) if record.is_union => {
                    let bytes = (u64::from(place.bit_offset) + u64::from(bits)).div_ceil(8);
                    runs.push(Run { first: at, start: 0, bytes: place.offset + bytes });
                }
                Some(_) => first = first.or(Some(at)),
                None => {
                    let bytes = place.offset.saturating_sub(end);
                    runs.extend(first.take().map(|first| Run { first, start: end, bytes }));
                    let size = self.program.model.size_of(types, field.ty).unwrap_or(0);
                    end = place.offset + size;
                }
            }
        }
        let bytes = layout.size.saturating_sub(end);
        runs.extend(first.map(|first| Run { first, start: end, bytes }));
        runs.retain(|it| it.bytes > 0);
        runs
    }

    /// The bytes that begin with a bit-field, as a member; nothing for one that others stand before.
    pub(super) fn bytes_member(
        &self,
        id: RecordId,
        layout: &RecordLayout,
        at: usize,
    ) -> Option<String> {
        let runs = self.runs(id, layout);
        let run = runs.iter().find(|it| it.first == at)?;
        Some(format!("unsigned char {}[{}]", name(id, run), run.bytes))
    }

    /// Where the bit-field is that an expression names, and of what.
    pub(super) fn bits_of(&self, expr: ExprId) -> Option<(ExprId, Bits)> {
        let node = self.program.exprs.find(expr).filter(|_| self.grid.is_some())?;
        let ExprKind::Member(base, record, at) = node.kind else { return None };
        Some((base, self.bits_at(record, at as usize)?))
    }

    fn bits_at(&self, record: RecordId, at: usize) -> Option<Bits> {
        let (types, model) = (&self.program.types, self.program.model);
        let field = types.records.find(record)?.fields.as_ref()?.get(at)?;
        let width = field.bits?;
        let layout = self.split_layout(record)?;
        let place = layout.fields.get(at)?;
        let begin = place.offset * 8 + u64::from(place.bit_offset);
        let runs = self.runs(record, &layout);
        let is_union = types.records.find(record)?.is_union;
        let run = runs.iter().rfind(|it| match is_union {
            true => it.first == at,
            false => it.first <= at,
        })?;
        let is_signed = types.integer_kind(field.ty).is_some_and(|it| model.int_signed(it));
        Some(Bits {
            name: name(record, run),
            bit: begin - run.start * 8,
            width,
            ty: field.ty.plain(),
            value: model.promote_bit_field(types, field.ty, width),
            is_signed,
        })
    }

    /// `s.bits, 3, 5`: what functions are told of a bit-field.
    fn bits_place(&self, base: ExprId, bits: &Bits) -> String {
        let mut place = String::new();
        self.put_member(base, &bits.name, &mut place);
        format!("{place}, {}, {}", bits.bit, bits.width)
    }

    /// A record that is a value, or in one: what declares an object that is like it, and the record in that.
    #[allow(clippy::wildcard_enum_match_arm, reason = "all others are objects")]
    fn made(&self, expr: ExprId) -> Option<(String, String)> {
        const OBJECT: &str = "__ferry_made";
        let node = self.program.exprs.find(expr)?;
        match node.kind {
            ExprKind::Member(base, record, at) => {
                let (declared, object) = self.made(base)?;
                let name = self.field_name(record, at);
                Some((declared, name.map_or(object.clone(), |name| format!("{object}.{name}"))))
            }
            ExprKind::Call(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Assign(..)
            | ExprKind::StmtExpr(_) => {
                let value = self.operand(expr, Level::Assign);
                let declared = format!("{} = {value};", self.declare(node.ty.plain(), OBJECT));
                Some((declared, OBJECT.to_owned()))
            }
            _ => None,
        }
    }

    /// Bits as a number of the type that C gives them.
    fn as_number(&self, bits: &Bits, text: &str) -> String {
        let ty = self.base(&bits.value);
        match bits.is_signed {
            true => format!("(({ty})__ferry_sign({text}, {}))", bits.width),
            false => format!("(({ty}){text})"),
        }
    }

    /// The value of a bit-field.
    pub(super) fn put_bits_read(&self, base: ExprId, bits: &Bits, out: &mut String) {
        let Some((declared, object)) = self.made(base) else {
            let text = format!("__ferry_bits({})", self.bits_place(base, bits));
            return out.push_str(&self.as_number(bits, &text));
        };
        let Bits { name, bit, width, .. } = bits;
        let text = format!("__ferry_bits({object}.{name}, {bit}, {width})");
        let number = self.as_number(bits, &text);
        out.push_str(&match self.is_cpp() {
            true => format!("[&] {{ {declared} return {number}; }}()"),
            false => format!("({{ {declared} {number}; }})"),
        });
    }

    /// An assignment to one; `value` can be the operand of a cast.
    fn put_bits_write(&self, word: &str, base: ExprId, bits: &Bits, value: &str, out: &mut String) {
        let place = self.bits_place(base, bits);
        let ty = self.type_name(bits.ty);
        let text = format!("{word}({place}, (unsigned long)({ty}){value})");
        out.push_str(&self.as_number(bits, &text));
    }

    pub(super) fn put_bits_assigned(
        &self,
        base: ExprId,
        bits: &Bits,
        to: ExprId,
        out: &mut String,
    ) {
        let value = self.operand(to, Level::Cast);
        self.put_bits_write("__ferry_put_bits", base, bits, &value, out);
    }

    /// `s.b += 3`
    pub(super) fn put_bits_changed(
        &self,
        op: BinaryOp,
        base: ExprId,
        bits: &Bits,
        by: ExprId,
        within: Ty,
        out: &mut String,
    ) {
        let mut old = String::new();
        self.put_bits_read(base, bits, &mut old);
        let (ty, by) = (self.type_name(within.plain()), self.operand(by, Level::Cast));
        let value = format!("(({ty}){old} {} {by})", binary(op).0);
        self.put_bits_write("__ferry_put_bits", base, bits, &value, out);
    }

    /// `s.b++`
    pub(super) fn put_bits_stepped(&self, op: StepOp, base: ExprId, bits: &Bits, out: &mut String) {
        let mut old = String::new();
        self.put_bits_read(base, bits, &mut old);
        let (sign, word) = match op {
            StepOp::PreInc => ('+', "__ferry_put_bits"),
            StepOp::PreDec => ('-', "__ferry_put_bits"),
            StepOp::PostInc => ('+', "__ferry_swap_bits"),
            StepOp::PostDec => ('-', "__ferry_swap_bits"),
        };
        self.put_bits_write(word, base, bits, &format!("({old} {sign} 1)"), out);
    }

    /// What members a list gives values to, where bit-fields are bytes.
    pub(super) fn members_in_bytes(
        &self,
        record: RecordId,
        elements: &[InitElement],
        parts: &mut Vec<String>,
    ) {
        let mut runs: Vec<(String, Vec<String>)> = Vec::new();
        let mut others: Vec<InitElement> = Vec::new();
        for it in elements {
            let bits = usize::try_from(it.first).ok().and_then(|at| self.bits_at(record, at));
            let Some(bits) = bits else {
                others.push(it.clone());
                continue;
            };
            let value = match self.program.inits.find(it.value) {
                Some(Init::Expr(e)) => self.operand(*e, Level::Cast),
                Some(Init::List(..)) | None => format!("({})", self.init_alone(it.value)),
            };
            let value = format!("(unsigned long)({}){value}", self.type_name(bits.ty));
            let at = match runs.iter().position(|it| it.0 == bits.name) {
                Some(at) => at,
                None => {
                    runs.push((bits.name.clone(), Vec::new()));
                    runs.len() - 1
                }
            };
            let Some((_, bytes)) = runs.get_mut(at) else { continue };
            let mask = u64::MAX >> (64 - u64::from(bits.width.clamp(1, 64)));
            let (first, last) = (bits.bit / 8, (bits.bit + u64::from(bits.width) - 1) / 8);
            for byte in first..=last {
                let shift = i64::try_from((byte - first) * 8).unwrap_or(0) - (bits.bit % 8) as i64;
                let moved = match shift {
                    0 => format!("({value} & {mask}UL)"),
                    1.. => format!("(({value} & {mask}UL) >> {shift})"),
                    _ => format!("(({value} & {mask}UL) << {})", -shift),
                };
                let Ok(at) = usize::try_from(byte) else { continue };
                bytes.resize(bytes.len().max(at + 1), String::new());
                let Some(text) = bytes.get_mut(at) else { continue };
                if !text.is_empty() {
                    text.push_str(" | ");
                }
                text.push_str(&moved);
            }
        }
        let listed = |bytes: &[String]| {
            let byte = |it: &String| match it.is_empty() {
                true => "0".to_owned(),
                false => format!("(unsigned char)({it})"),
            };
            let bytes: Vec<String> = bytes.iter().map(byte).collect();
            format!("{{ {} }}", bytes.join(", "))
        };
        if self.is_cpp() {
            return self.bytes_in_order(record, &others, parts, |name| {
                runs.iter().find(|it| it.0 == name).map(|it| listed(&it.1))
            });
        }
        self.members(record, &others, parts);
        parts.extend(runs.iter().map(|(name, bytes)| format!(".{name} = {}", listed(bytes))));
    }

    /// The same one after the other, with nothing for those that are not given; of a union the one that is. `run`: the
    /// bytes of a run by its name.
    fn bytes_in_order(
        &self,
        id: RecordId,
        others: &[InitElement],
        parts: &mut Vec<String>,
        run: impl Fn(&str) -> Option<String>,
    ) {
        let Some(record) = self.program.types.records.find(id) else { return };
        let runs = self.split_layout(id).map(|it| self.runs(id, &it)).unwrap_or_default();
        let given = |at: usize| others.iter().find(|it| usize::try_from(it.first) == Ok(at));
        for (at, field) in record.fields.iter().flatten().enumerate() {
            let (member, value) = if field.bits.is_some() {
                let Some(bytes) = runs.iter().find(|it| it.first == at) else { continue };
                let member = name(id, bytes);
                (member.clone(), run(&member))
            } else {
                let member = u32::try_from(at).ok().and_then(|at| self.field_name(id, at));
                (
                    member.map(|it| it.into_owned()).unwrap_or_default(),
                    given(at).map(|it| self.init(it.value, field.ty)),
                )
            };
            match (value, record.is_union) {
                (Some(value), true) if at == 0 => return parts.push(value),
                (Some(value), true) => return parts.push(format!(".{member} = {value}")),
                (None, true) => {}
                (value, false) => parts.push(value.unwrap_or_else(|| "{}".to_owned())),
            }
        }
    }
}

/// No other member is called so, not even one of a record around it.
fn name(id: RecordId, run: &Run) -> String {
    format!("__ferry_bits{}_{}", id.index(), run.first)
}
