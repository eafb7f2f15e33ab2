//! How accesses move through memory from one iteration of a loop to the next.

use std::collections::BTreeMap;

use ir::program::{Program, VarId};
use source::Span;

use crate::access::{Base, Context, Extent, Step, Touch};
use crate::poly::{Atom, Poly, Value};
use crate::walk::Body;

/// One access to memory.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessMark {
    /// The array, or the pointer to it.
    pub var: Option<VarId>,
    /// Where.
    pub span: Span,
    /// Whether it writes.
    pub writes: bool,
    /// How many bytes.
    pub bytes: u64,
    /// It stands under a condition.
    pub is_conditional: bool,
    /// The loops around it, outermost first, and how far it moves in each.
    pub strides: Vec<(usize, Stride)>,
}

impl AccessMark {
    /// How far it moves from one iteration of a loop to the next, if it stands in that loop.
    pub fn stride(&self, at: usize) -> Option<&Stride> {
        self.strides.iter().find(|it| it.0 == at).map(|it| &it.1)
    }

    /// The innermost loop around it.
    pub fn innermost(&self) -> Option<usize> {
        self.strides.last().map(|it| it.0)
    }
}

/// A distance between the places that two iterations in a row access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// The same place.
    Same,
    /// So many elements on.
    Elements(i64),
    /// Always as far, but how far is known only when the program runs: a row.
    Row,
    /// Anywhere.
    Irregular,
}

impl Stride {
    /// Whether neighbours access neighbours.
    pub fn is_unit(self) -> bool {
        matches!(self, Stride::Elements(1 | -1))
    }
}

/// An access, and what its subscripts say of loops.
pub(super) struct Measured {
    pub(super) mark: AccessMark,
    /// Declared lengths that bound a counter: the loop and how many iterations fit.
    pub(super) room: Vec<(usize, u64)>,
}

/// The accesses of a nest; `numbers` leads from counters to loops.
pub(super) fn of(program: &Program, body: &Body, numbers: &BTreeMap<u32, usize>) -> Vec<Measured> {
    body.touches.iter().filter_map(|it| measured(program, it, numbers)).collect()
}

fn measured(program: &Program, touch: &Touch, numbers: &BTreeMap<u32, usize>) -> Option<Measured> {
    let ty = touch.ty?;
    let bytes = touch.size.filter(|it| *it > 0)?;
    if program.types.is_array(ty) {
        return None;
    }
    let loops: Vec<(u32, usize)> = touch
        .context
        .iter()
        .filter_map(|it| match it {
            Context::Loop(number, _) => Some((*number, *numbers.get(number)?)),
            Context::Branch(_) => None,
        })
        .collect();
    let offset = touch.place.offset(program, 0).filter(|_| !touch.place.anywhere);
    let stride = |number: u32| match &offset {
        Some(offset) => of_offset(offset, number, bytes),
        None => of_path(touch, number),
    };
    let mut room = Vec::new();
    for step in &touch.place.path {
        let Step::Index { by, within: Some(Extent::Known(length)), .. } = step else { continue };
        for (number, at) in &loops {
            let factor = by.divided_by(Atom::of(Value::Trip(*number))).0.as_constant();
            let factor = factor.and_then(|it| u64::try_from(it.unsigned_abs()).ok());
            room.extend(factor.and_then(|it| length.checked_div(it)).map(|it| (*at, it)));
        }
    }
    let var = match touch.place.base {
        Base::Var(var) | Base::Pointee(var) => Some(var),
        Base::Held(_) | Base::Unknown | Base::Nowhere => None,
    };
    let is_conditional = touch.context.iter().any(|it| matches!(it, Context::Branch(_)));
    let strides = loops.iter().map(|(number, at)| (*at, stride(*number))).collect();
    let (span, writes) = (touch.span, touch.writes);
    Some(Measured { mark: AccessMark { var, span, writes, bytes, is_conditional, strides }, room })
}

fn of_offset(offset: &Poly, number: u32, bytes: u64) -> Stride {
    let (factor, rest) = offset.divided_by(Atom::of(Value::Trip(number)));
    let is_lost = rest.atoms().any(|it| matches!(it.value, Value::Varying(_)));
    match factor.as_constant() {
        Some(0) if is_lost => Stride::Irregular,
        Some(0) => Stride::Same,
        Some(by) => {
            let size = i128::from(bytes);
            let elements =
                if by % size == 0 { by / size } else { by.signum() * (1 + by.abs() / size) };
            i64::try_from(elements).map_or(Stride::Row, Stride::Elements)
        }
        None if factor.atoms().any(Atom::varies) => Stride::Irregular,
        None => Stride::Row,
    }
}

/// Where the length of a row is computed: only the last subscript moves by elements.
fn of_path(touch: &Touch, number: u32) -> Stride {
    if touch.place.anywhere {
        return Stride::Irregular;
    }
    let atom = Atom::of(Value::Trip(number));
    let mut found = Stride::Same;
    for (at, step) in touch.place.path.iter().enumerate() {
        let Step::Index { by, .. } = step else { continue };
        let is_last = at + 1 == touch.place.path.len();
        let this = of_offset(by, number, 1);
        found = match (this, found) {
            (Stride::Same, _) => found,
            (Stride::Irregular, _) | (_, Stride::Irregular) => Stride::Irregular,
            (Stride::Elements(_), Stride::Same) if is_last => this,
            (Stride::Elements(_) | Stride::Row, _) => Stride::Row,
        };
        debug_assert!(by.divided_by(atom).0.as_constant() != Some(0) || this != Stride::Row);
    }
    found
}
