//! Where the elements of an iteration lie: so many bytes from the begin of an array, some of them for each round of loops.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{Ty, TypeKind};
use kernel::Dim;
use kernel::build::Builder;
use kernel::count::constant;
use source::Span;

use super::super::Cx;
use super::super::accesses::Access;
use super::super::nest::{counted, size_of};

/// Where an element is: so many bytes from what a variable is or points to, some of them for each value of variables.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) root: VarId,
    pub(super) terms: Vec<(VarId, i64)>,
    pub(super) at: i64,
}

/// The bytes that all iterations use of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) root: VarId,
    pub(super) stride: i64,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// An element of one iteration.
pub(super) struct Own {
    pub(super) access: Access,
    pub(super) is_changed: bool,
    /// Without the part that follows the loop.
    pub(super) place: Place,
    pub(super) stride: i64,
    /// Offsets that it has in rounds of loops; none if these are too many or unknown.
    pub(super) offsets: Vec<i64>,
}

impl Place {
    /// Where an element is, if that is a sum of constants and of multiples of variables.
    pub(super) fn of(program: &Program, e: ExprId) -> Option<Place> {
        match program.exprs[e].kind {
            ExprKind::Var(root) => Some(Place { root, terms: Vec::new(), at: 0 }),
            ExprKind::Member(of, record, field) => {
                let layout = program.model.record(&program.types, record).ok()?;
                let place = layout.fields.get(field as usize)?;
                let place = Some(place).filter(|it| it.bit_width.is_none())?;
                Place::of(program, of)?.moved(i64::try_from(place.offset).ok()?)
            }
            ExprKind::Index(base, index) => {
                let scale = i64::try_from(size_of(program, program.exprs[e].ty)).ok()?;
                let mut place = match program.types.is_array(program.exprs[base].ty) {
                    true => Place::of(program, base)?,
                    false => Place::behind(program, base)?,
                };
                place.add(program, index, scale)?;
                Some(place)
            }
            ExprKind::Deref(of) => Place::behind(program, of),
            _ => None,
        }
    }

    /// What a pointer leads to.
    fn behind(program: &Program, e: ExprId) -> Option<Place> {
        match program.exprs[e].kind {
            ExprKind::Var(root) => Some(Place { root, terms: Vec::new(), at: 0 }),
            ExprKind::AddrOf(of) => Place::of(program, of),
            ExprKind::Cast(_, of) if program.types.is_array(program.exprs[of].ty) => {
                Place::of(program, of)
            }
            ExprKind::Cast(_, of) if is_pointer(program, of) => Place::behind(program, of),
            ExprKind::Binary(BinaryOp::Add, base, index) if is_pointer(program, base) => {
                let ty = program.types.pointee(program.exprs[e].ty)?;
                let mut place = Place::behind(program, base)?;
                place.add(program, index, i64::try_from(size_of(program, ty)).ok()?)?;
                Some(place)
            }
            _ => None,
        }
    }

    fn moved(mut self, by: i64) -> Option<Place> {
        self.at = self.at.checked_add(by)?;
        Some(self)
    }

    /// Adds so many times an index.
    fn add(&mut self, program: &Program, e: ExprId, times: i64) -> Option<()> {
        if let Some(value) = constant(program, e) {
            self.at = self.at.checked_add(value.checked_mul(times)?)?;
            return Some(());
        }
        let (ty, types) = (program.exprs[e].ty, &program.types);
        // Unsigned numbers begin anew behind the largest.
        let is_exact = is_signed(program, ty) || size_of(program, ty) == 8;
        match program.exprs[e].kind {
            ExprKind::Var(var) if types.is_integer(ty) => {
                match self.terms.iter_mut().find(|it| it.0 == var) {
                    Some(it) => it.1 = it.1.checked_add(times)?,
                    None => self.terms.push((var, times)),
                }
                Some(())
            }
            ExprKind::Cast(_, of) => {
                let from = program.exprs[of].ty;
                let is_wide = size_of(program, ty) >= size_of(program, from);
                (types.is_integer(from) && types.is_integer(ty) && is_wide).then_some(())?;
                self.add(program, of, times)
            }
            ExprKind::Binary(BinaryOp::Add, a, b) if is_exact => {
                self.add(program, a, times)?;
                self.add(program, b, times)
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) if is_exact => {
                self.add(program, a, times)?;
                self.add(program, b, times.checked_neg()?)
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) if is_exact => {
                let (value, of) = match (constant(program, a), constant(program, b)) {
                    (Some(value), _) => (value, b),
                    (_, Some(value)) => (value, a),
                    _ => return None,
                };
                self.add(program, of, times.checked_mul(value)?)
            }
            _ => None,
        }
    }
}

impl Own {
    /// `value` is where the element is, in terms of variables that are known when the iteration begins.
    pub(super) fn find(
        program: &Program,
        access: &Access,
        value: ExprId,
        dim: VarId,
        is_changed: bool,
    ) -> Option<Own> {
        /// Rounds of all loops around an element at most.
        const ROUNDS: usize = 4096;
        let mut place = Place::of(program, value)?;
        let at = place.terms.iter().position(|it| it.0 == dim)?;
        let (_, stride) = place.terms.swap_remove(at);
        (stride > 0).then_some(())?;
        let mut offsets = vec![place.at];
        for (var, times) in &place.terms {
            let rounds = access.loops.iter().find_map(|it| {
                let C::For(one) = &program.stmts[*it].kind else { return None };
                counted(program, one).filter(|it| it.var == *var)
            })?;
            let [first, end] = [rounds.begin, rounds.bound].map(|it| constant(program, it));
            let end = end? + i64::from(rounds.test == LoopTest::Le);
            let rounds = first?..end;
            (!rounds.is_empty() && offsets.len() * rounds.clone().count() <= ROUNDS)
                .then_some(())?;
            let here =
                |it: &i64| rounds.clone().map(|round| it + times * round).collect::<Vec<_>>();
            offsets = offsets.iter().flat_map(here).collect();
        }
        Some(Own { access: access.clone(), is_changed, place, stride, offsets })
    }

    /// Whether every iteration comes by.
    pub(super) fn is_certain(&self, program: &Program) -> bool {
        let runs = |it: &StmtId| {
            let C::For(one) = &program.stmts[*it].kind else { return false };
            let dim = counted(program, one);
            let trips = dim.and_then(|it| trips(program, &it));
            trips.is_some_and(|it| it > 0)
        };
        !self.access.is_conditional && self.access.loops.iter().all(runs)
    }
}

/// How often a loop with constant bounds runs.
fn trips(program: &Program, dim: &Dim) -> Option<i64> {
    let (begin, bound) = (constant(program, dim.begin)?, constant(program, dim.bound)?);
    Some(bound - begin + i64::from(dim.test == LoopTest::Le))
}

/// Where an object is, or what a pointer leads to.
pub(super) fn address_of(build: &mut Builder<'_>, root: VarId) -> ExprId {
    let root = build.var(root);
    match is_pointer(build.program, root) {
        true => root,
        false => build.address(root),
    }
}

impl Extent {
    /// None if elements of one array are not that far apart.
    pub(super) fn of(program: &Program, all: &[&Own]) -> Option<Extent> {
        let first = all.first()?;
        let stride = first.stride;
        all.iter().all(|it| it.stride == stride).then_some(())?;
        let size = |it: &Own| size_of(program, program.exprs[it.access.expr].ty);
        let low = all.iter().flat_map(|it| &it.offsets).copied().min()?;
        let end = |it: &&Own| Some(it.offsets.iter().max()? + i64::try_from(size(it)).ok()?);
        let high = all.iter().map(end).collect::<Option<Vec<_>>>()?.into_iter().max()?;
        Some(Extent { root: first.place.root, stride, low, high })
    }

    /// Where the bytes begin and end, given the first value of the loop's variable and how many it has.
    pub(super) fn ends(
        &self,
        cx: &mut Cx<'_>,
        [begin, trips]: [VarId; 2],
        span: Span,
    ) -> [ExprId; 2] {
        let build = &mut cx.build(span);
        let root = address_of(build, self.root);
        let root = build.as_number(root);
        let (begin, trips) = (build.var(begin), build.var(trips));
        let (begin, one) = (build.as_number(begin), build.number(1));
        let last = build.binary(BinaryOp::Add, begin, trips);
        let last = build.binary(BinaryOp::Sub, last, one);
        [(begin, self.low), (last, self.high)].map(|(number, bytes)| {
            let (stride, bytes) = (build.number(self.stride), build.number(bytes));
            let far = build.binary(BinaryOp::Mul, number, stride);
            let at = build.binary(BinaryOp::Add, root, far);
            build.binary(BinaryOp::Add, at, bytes)
        })
    }
}

pub(super) fn is_pointer(program: &Program, e: ExprId) -> bool {
    program.types.is_pointer(program.exprs[e].ty)
}

fn is_signed(program: &Program, ty: Ty) -> bool {
    matches!(program.types.shape(ty), TypeKind::Int(kind) if program.model.int_signed(*kind))
}
