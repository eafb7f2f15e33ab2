//! Places in memory as the body of a loop names them.
//!
//! A [`Place`] is an object and a way into it. The way is kept in steps, as written: subscripts with the
//! size of what they count, and members. So `a[i][j]` is compared dimension by dimension, and only
//! places of different shape are compared by bytes.

use std::rc::Rc;

use ir::program::{Program, VarId};
use ir::types::{RecordId, Ty};
use source::Span;

use crate::poly::Poly;

/// The object a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// A declared variable.
    Var(VarId),
    /// What a pointer variable led to when the examined loop was entered.
    Pointee(VarId),
    /// Behind a pointer that memory held, at a place that the loop does not change: its number.
    Held(u32),
    /// Some object whose address some pointer holds.
    Unknown,
    /// A constant, or a value that has no address.
    Nowhere,
}

/// One step into an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Step {
    /// So many elements on.
    Index {
        /// How many.
        by: Poly,
        /// What they are.
        element: Ty,
        /// Bytes of one, if that is a constant.
        stride: Option<u64>,
        /// Number of elements of the declared array that is subscripted.
        within: Option<Extent>,
    },
    /// A member.
    Field(RecordId, u32),
}

/// Length of a declared dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// A constant.
    Known(u64),
    /// Computed when the array was declared.
    Computed,
}

/// An object and a way into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The object.
    pub(crate) base: Base,
    /// The way.
    pub(crate) path: Vec<Step>,
    /// Anywhere in the object: the way was lost.
    pub(crate) anywhere: bool,
}

impl Place {
    /// The beginning of an object.
    pub(crate) fn start(base: Base) -> Place {
        Place { base, path: Vec::new(), anywhere: false }
    }

    /// Somewhere in an object.
    pub(crate) fn anywhere(base: Base) -> Place {
        Place { base, path: Vec::new(), anywhere: true }
    }

    /// The element of the array that is at this place.
    pub(crate) fn element(
        mut self,
        program: &Program,
        by: Poly,
        element: Ty,
        within: Option<Extent>,
    ) -> Place {
        let stride = program.model.size_of(&program.types, element).ok();
        self.path.push(Step::Index { by, element: element.plain(), stride, within });
        self
    }

    /// `by` elements further, for a pointer to an element: the last subscript grows.
    pub(crate) fn moved(self, program: &Program, by: &Poly, element: Ty) -> Place {
        let is_still = by.as_constant() == Some(0);
        if is_still { self } else { self.subscripted(program, by, element) }
    }

    /// The element of a pointer's target.
    pub(crate) fn subscripted(mut self, program: &Program, by: &Poly, element: Ty) -> Place {
        if self.anywhere {
            return self;
        }
        let size = program.model.size_of(&program.types, element).ok();
        if let Some(Step::Index { by: last, element: of, stride, within }) = self.path.last_mut()
            && (*of == element.plain() || (size.is_some() && *stride == size))
        {
            let Some(sum) = last.add(by) else { return Place::anywhere(self.base) };
            // A pointer may walk over the ends of a row.
            if by.as_constant() != Some(0) {
                *within = None;
            }
            *last = sum;
            return self;
        }
        self.element(program, by.clone(), element, None)
    }

    /// A member of the record that is at this place.
    pub(crate) fn member(mut self, record: RecordId, field: u32) -> Place {
        self.path.push(Step::Field(record, field));
        self
    }

    /// Whether all iterations of the examined loop find it at the same address.
    pub(crate) fn is_fixed(&self) -> bool {
        let fixed_step = |step: &Step| match step {
            Step::Index { by, .. } => by.is_invariant(),
            Step::Field(..) => true,
        };
        !self.anywhere
            && !matches!(self.base, Base::Unknown | Base::Nowhere)
            && self.path.iter().all(fixed_step)
    }

    /// Bytes from the place before step `at` to the end of the way.
    pub(crate) fn offset(&self, program: &Program, at: usize) -> Option<Poly> {
        let mut sum = Poly::default();
        for step in self.path.iter().skip(at) {
            let bytes = match step {
                Step::Index { by, stride, .. } => by.scaled(i128::from((*stride)?))?,
                Step::Field(record, field) => {
                    let layout = program.model.record(&program.types, *record).ok()?;
                    let it = layout.fields.get(*field as usize)?;
                    if it.bit_width.is_some() {
                        return None;
                    }
                    Poly::constant(i128::from(it.offset))
                }
            };
            sum = sum.add(&bytes)?;
        }
        Some(sum)
    }
}

/// One access of the body.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    /// Where in memory.
    pub(crate) place: Place,
    /// Its type; none for what a call does.
    pub(crate) ty: Option<Ty>,
    /// How many bytes, if known.
    pub(crate) size: Option<u64>,
    /// Whether it writes.
    pub(crate) writes: bool,
    /// Polynomials that are not negative when it happens.
    pub(crate) facts: Rc<Vec<Poly>>,
    /// What has to be so for it to happen, from the outside in.
    pub(crate) context: Rc<Vec<Context>>,
    /// Where in the text.
    pub(crate) span: Span,
}

/// Something that may or may not be done, or be done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// One way of a condition: its number.
    Branch(u32),
    /// Rounds of an inner loop: its number, and what is not negative in just those rounds that
    /// are run.
    Loop(u32, Option<Poly>),
}
