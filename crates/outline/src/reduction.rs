//! Reductions: copies that begin with the value that changes nothing, and code that combines two objects.
//!
//! Any operator and any type: numbers by the operator, records member by member, arrays element by element,
//! parts of arrays, and what the user declares.

use ir::construct::{
    Args, ClauseKind, Construct, Leaf, ReductionDecl, ReductionInit, ReductionModifier, ReductionOp,
};
use ir::program::{BinaryOp, ExprId, ExprKind, For, RegionId, StmtId, StmtKind as C, Typed, VarId};
use ir::types::{ArrayLen, IntKind, Ty, TypeKind};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::count::constant;
use kernel::walk;
use kernel::{Block, Crew, Elements, Join, Loop, LoopKind, Reduce, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use crate::{Outliner, Result, refuse};

/// How values of a type are combined.
#[derive(Clone, Debug)]
enum How {
    /// By an operator.
    Operator(ReductionOp<Typed>),
    /// As a declaration says.
    Declared(Box<(Construct<Typed>, ReductionDecl<Typed>)>),
}

/// What a clause names.
pub(crate) struct Item {
    pub(crate) var: VarId,
    /// First element and number of elements, of a part of an array.
    pub(crate) part: Option<(i64, u64)>,
}

impl Outliner<'_> {
    /// Copies of what a construct combines, for one of a crew; answers what combines them.
    pub(crate) fn reduced(
        &mut self,
        id: RegionId,
        crew: Crew,
        space: Space,
        is_league: bool,
        out: &mut Block,
    ) -> Result<Vec<Reduce>> {
        let region = self.program.regions[id].clone();
        let mut found = Vec::new();
        for clause in region.construct.clauses.iter().filter(|it| it.group.is_none()) {
            let ClauseKind::Reduction(it) = &clause.kind else { continue };
            match it.modifier {
                // Their iterations do it.
                Some(ReductionModifier::Inscan) => continue,
                Some(ReductionModifier::Task | ReductionModifier::Default) | None => {}
            }
            for item in &it.items {
                let made = self.reduced_item(id, *item, &it.op, (crew, space, is_league), out)?;
                found.push(made);
            }
        }
        Ok(found)
    }

    fn reduced_item(
        &mut self,
        id: RegionId,
        item: ExprId,
        op: &ReductionOp<Typed>,
        (crew, space, is_league): (Crew, Space, bool),
        out: &mut Block,
    ) -> Result<Reduce> {
        let span = self.program.exprs[item].span;
        let item = self.item(item)?;
        let outer = self.env.vars.get(&item.var).copied().unwrap_or(item.var);
        let ty = self.program.vars[item.var].ty;
        let how = self.how(id, op, ty, span)?;
        let is_pointer = self.program.types.is_pointer(ty);
        let (copy, original, whole) = match item.part {
            None if is_pointer => return refuse("a pointer that is combined", span),
            None => {
                let copy = self.fresh_like(item.var, space, span)?;
                self.declare(copy, out);
                let mut build = self.build(span);
                let (original, own) = (build.var(outer), build.var(copy));
                self.env.vars.insert(item.var, copy);
                (copy, original, own)
            }
            Some(part) => self.copied_part(id, (item.var, part), space, span, out)?,
        };
        let begin = self.begins(whole, original, &how, span)?;
        out.push(Stmt::new(StmtKind::Code(begin), span));
        let elements = self.elements(copy, item.part, span)?;
        let mut build = self.build(span);
        let (own, at) = (build.var(copy), build.var(outer));
        let (own, at) = match elements {
            None => (own, at),
            Some(it) => {
                let index = build.var(it.index);
                let (Some(own), Some(at)) = (build.nth(own, index), build.nth(at, index)) else {
                    return refuse("an array that is combined", span);
                };
                (own, at)
            }
        };
        let (ty, name) = (build.type_of(own).plain(), build.name_of(item.var));
        let other = build.fresh(&name, ty);
        let another = build.var(other);
        self.spaces.push((other, Space::Private));
        let combine = self.combines(at, own, &how, span)?;
        let combine = vec![Stmt::new(StmtKind::Code(combine), span)];
        let code = self.combines(own, another, &how, span)?;
        let join = Some(Join { other, code: vec![Stmt::new(StmtKind::Code(code), span)] });
        Ok(Reduce { crew, is_league, op: op.clone(), copy, elements, combine, join })
    }

    /// The elements of a copy that are combined, if it is an array.
    fn elements(
        &mut self,
        copy: VarId,
        part: Option<(i64, u64)>,
        span: Span,
    ) -> Result<Option<Elements>> {
        let ty = self.program.vars[copy].ty;
        let build = self.build(span);
        let count = match build.count_of(ty) {
            Some(None) => return Ok(None),
            Some(Some(count)) => Some(count),
            None => None,
        };
        let inside = build.program.types.element(ty).and_then(|it| build.count_of(it));
        let lower = part.map_or(Some(0), |it| u64::try_from(it.0).ok());
        let begin = lower.zip(inside).and_then(|(it, each)| it.checked_mul(each.unwrap_or(1)));
        let (Some(begin), Some(end)) = (begin, count) else {
            return refuse("an array that is combined", span);
        };
        let index = self.build(span).fresh_number("index");
        self.spaces.push((index, Space::Private));
        Ok(Some(Elements { index, begin, end }))
    }

    /// What one thread does to combine a copy.
    pub(crate) fn combined(&mut self, it: Reduce, span: Span, out: &mut Block) {
        let Some(elements) = it.elements else { return out.extend(it.combine) };
        let mut build = self.build(span);
        let [begin, end] = [elements.begin, elements.end]
            .map(|it| build.number(i64::try_from(it).unwrap_or(i64::MAX)));
        let index = build.var(elements.index);
        let condition = build.binary(BinaryOp::Lt, index, end);
        let step = build.increment(elements.index);
        let first = build.set(elements.index, begin);
        let (kind, condition, step) = (LoopKind::Before, Some(condition), Some(step));
        let each = Loop { kind, condition, step, body: it.combine };
        let mut block = Block::new();
        self.declare(elements.index, &mut block);
        self.eval(first, &mut block);
        block.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        out.push(Stmt::new(StmtKind::Block(block), span));
    }

    /// A copy of a part of an array, which stands for the array from here on: the copy, the part of the original, and the
    /// part of the copy.
    pub(crate) fn copied_part(
        &mut self,
        id: RegionId,
        (var, (lower, count)): (VarId, (i64, u64)),
        space: Space,
        span: Span,
        out: &mut Block,
    ) -> Result<(VarId, ExprId, ExprId)> {
        let ty = self.program.vars[var].ty;
        let is_pointer = self.program.types.is_pointer(ty);
        let outer = self.env.vars.get(&var).copied().unwrap_or(var);
        let element = self.program.types.element(ty).or(self.program.types.pointee(ty));
        let Some(element) = element else { return refuse("a part of no array", span) };
        if self.program.types.is_variably_modified(element) {
            return refuse("a variable whose type has a computed length", span);
        }
        // The copy has what comes before the part too: no pointer leads before its beginning.
        let Some(all) = u64::try_from(lower).ok().and_then(|it| it.checked_add(count)) else {
            return refuse("a part before the beginning of an array", span);
        };
        let mut build = self.build(span);
        let name = build.name_of(var);
        let array = build.array_of(element.plain(), all);
        let part = build.array_of(element.plain(), count);
        let copy = build.fresh(&name, array);
        let parts = [copy, outer].map(|it| part_of(&mut build, it, lower, part));
        let [Some(own), Some(original)] = parts else {
            return refuse("a part of no array", span);
        };
        self.spaces.push((copy, space));
        self.declare(copy, out);
        let by = match is_pointer && !self.only_leads(id, var) {
            false => copy,
            true => {
                let mut build = self.build(span);
                let pointer_type = build.program.types.pointer_to(element.plain());
                let pointer = build.fresh(&name, pointer_type);
                let (whole, zero) = (build.var(copy), build.number(0));
                let Some(first) = build.element(whole, zero) else {
                    return refuse("a part of no array", span);
                };
                let first = build.address(first);
                let set = build.set(pointer, first);
                self.spaces.push((pointer, space));
                self.declare(pointer, out);
                self.eval(set, out);
                pointer
            }
        };
        self.env.vars.insert(var, by);
        Ok((copy, original, own))
    }

    /// Whether a construct does no more with a pointer than to go where it leads: an array may stand for it then.
    fn only_leads(&self, id: RegionId, pointer: VarId) -> bool {
        let Some(body) = self.program.regions[id].body else { return false };
        let sized = |it: &ExprKind| {
            matches!(it, ExprKind::Sizeof(ty) | ExprKind::Alignof(ty)
                if self.program.types.is_variably_modified(*ty))
        };
        let (uses, _) = walk::uses(self.program, Part::Stmt(body));
        uses.iter().all(|it| it.var != pointer || it.how == walk::How::Named)
            && !self.program.any_expr(Part::Stmt(body), sized)
    }

    pub(crate) fn item(&self, item: ExprId) -> Result<Item> {
        let span = self.program.exprs[item].span;
        let constant = |it: Option<ExprId>| match it.map(|it| constant(self.program, it)) {
            None => Some(None),
            Some(None) => None,
            Some(known) => Some(known),
        };
        match &self.program.exprs[item].kind {
            ExprKind::Var(var) => Ok(Item { var: *var, part: None }),
            ExprKind::Section(section) => {
                let mut base = section.base;
                while let ExprKind::Cast(_, inner) = self.program.exprs[base].kind {
                    base = inner;
                }
                let ExprKind::Var(var) = self.program.exprs[base].kind else {
                    return refuse("a part of something that has no name", span);
                };
                let whole = match self.program.types.shape(self.program.vars[var].ty) {
                    TypeKind::Array(_, ArrayLen::Known(count)) => Some(*count),
                    _ => None,
                };
                let lower = constant(section.lower).map(|it| it.unwrap_or(0));
                let length = constant(section.length);
                let stride = constant(section.stride);
                let (Some(lower), Some(length), Some(None | Some(1))) = (lower, length, stride)
                else {
                    return refuse("a part of an array whose length is computed", span);
                };
                let rest = whole.and_then(|it| it.checked_sub(u64::try_from(lower).ok()?));
                let length = length.and_then(|it| u64::try_from(it).ok()).or(rest);
                match length {
                    Some(0) | None => refuse("a part of an array whose length is computed", span),
                    Some(length) => Ok(Item { var, part: Some((lower, length)) }),
                }
            }
            _ => refuse("a part of an object that is combined", span),
        }
    }

    /// How objects of a type are combined.
    fn how(&self, id: RegionId, op: &ReductionOp<Typed>, ty: Ty, span: Span) -> Result<How> {
        let types = &self.program.types;
        let element = match types.pointee(ty) {
            Some(to) => types.innermost_element(to),
            None => types.innermost_element(ty),
        };
        let element = types.resolve(element).plain();
        let from = self.program.regions[id].construct.span;
        let seen: Vec<_> = self.program.declarations_seen(from).collect();
        let declared = seen.into_iter().rev().find_map(|(_, it)| {
            let Args::Reduction(declared) = &it.construct.args else { return None };
            let [only] = declared.types.as_slice() else { return None };
            let is_meant = it.construct.has(Leaf::DeclareReduction)
                && declared.name == *op
                && types.compatible(types.resolve(*only).plain(), element);
            is_meant.then(|| (it.construct.clone(), declared.as_ref().clone()))
        });
        match (op, declared) {
            (ReductionOp::User(_), None) => refuse("a reduction that nobody has declared", span),
            (ReductionOp::User(_), Some(it)) => Ok(How::Declared(Box::new(it))),
            // An operator of C means itself for numbers.
            (_, Some(it)) if !types.is_arithmetic(element) => Ok(How::Declared(Box::new(it))),
            (op, _) => Ok(How::Operator(op.clone())),
        }
    }

    /// Gives an object the value that changes nothing.
    pub(crate) fn begin_sum(
        &mut self,
        id: RegionId,
        op: &ReductionOp<Typed>,
        own: VarId,
        original: VarId,
        span: Span,
    ) -> Result<StmtId> {
        let how = self.how(id, op, self.program.vars[own].ty, span)?;
        let mut build = self.build(span);
        let (own, original) = (build.var(own), build.var(original));
        self.begins(own, original, &how, span)
    }

    /// Combines a variable with another, and leaves the result in the first.
    pub(crate) fn join_sum(
        &mut self,
        id: RegionId,
        op: &ReductionOp<Typed>,
        to: VarId,
        from: VarId,
        span: Span,
    ) -> Result<StmtId> {
        let how = self.how(id, op, self.program.vars[to].ty, span)?;
        let mut build = self.build(span);
        let (to, from) = (build.var(to), build.var(from));
        self.combines(to, from, &how, span)
    }

    fn begins(&mut self, own: ExprId, original: ExprId, how: &How, span: Span) -> Result<StmtId> {
        self.each(own, original, how, span, &|this, own, original| match how {
            How::Operator(op) => {
                let mut build = this.build(span);
                let ty = build.type_of(own);
                let value = build.identity(op, ty)?;
                let e = build.assign(own, value);
                Some(build.stmt(C::Expr(e)))
            }
            How::Declared(it) => this.declared_begin(&it.0, own, original, span),
        })
    }

    fn combines(&mut self, to: ExprId, from: ExprId, how: &How, span: Span) -> Result<StmtId> {
        self.each(to, from, how, span, &|this, to, from| match how {
            How::Operator(op) => {
                let mut build = this.build(span);
                let e = joined(&mut build, op, to, from);
                Some(build.stmt(C::Expr(e)))
            }
            How::Declared(it) => {
                let clause = it.0.kinds().find_map(|it| match it {
                    ClauseKind::Combiner(it) => Some(*it),
                    _ => None,
                });
                let combiner = it.1.combiner.or(clause)?;
                let [out, r#in, ..] = directive::REDUCTION_VARIABLES;
                let e = this.with_names(Part::Expr(combiner), &[(out, to), (r#in, from)], |it| {
                    it.expr(combiner)
                });
                Some(this.build(span).stmt(C::Expr(e)))
            }
        })
    }

    /// How a declared reduction begins.
    fn declared_begin(
        &mut self,
        construct: &Construct<Typed>,
        own: ExprId,
        original: ExprId,
        span: Span,
    ) -> Option<StmtId> {
        let start = construct.kinds().find_map(|it| match it {
            ClauseKind::Initializer(it) => Some(it.clone()),
            _ => None,
        });
        let [_, _, fresh, old, ..] = directive::REDUCTION_VARIABLES;
        let names = [(fresh, own), (old, original)];
        match start {
            Some(ReductionInit::Assign(init)) => {
                let init = self.with_names(Part::Init(init), &names, |it| it.init(init));
                let ty = self.program.exprs[own].ty.plain();
                let mut build = self.build(span);
                let first = build.fresh("first", ty);
                build.program.vars[first].init = Some(init);
                let declared = build.stmt(C::Local(first));
                let value = build.var(first);
                let e = build.assign(own, value);
                let set = build.stmt(C::Expr(e));
                Some(build.stmt(C::Block(Box::new([declared, set]))))
            }
            Some(ReductionInit::Call(call)) => {
                let e = self.with_names(Part::Expr(call), &names, |it| it.expr(call));
                Some(self.build(span).stmt(C::Expr(e)))
            }
            None => {
                let ty = self.program.exprs[own].ty.plain();
                let mut build = self.build(span);
                let zero = build.program.inits.push(ir::program::Init::List(ty, Vec::new()));
                if build.program.types.is_scalar(ty) {
                    let int = build.int_type();
                    let zero = build.int(0, int);
                    let e = build.assign(own, zero);
                    return Some(build.stmt(C::Expr(e)));
                }
                let first = build.fresh("first", ty);
                build.program.vars[first].init = Some(zero);
                let declared = build.stmt(C::Local(first));
                let value = build.var(first);
                let e = build.assign(own, value);
                let set = build.stmt(C::Expr(e));
                Some(build.stmt(C::Block(Box::new([declared, set]))))
            }
        }
    }

    /// Copies a part of a declaration with expressions for its variables.
    fn with_names<T>(
        &mut self,
        part: Part,
        names: &[(&str, ExprId)],
        copy: impl FnOnce(&mut Copier<'_>) -> T,
    ) -> T {
        let mut exprs: FxHashMap<VarId, ExprId> = FxHashMap::default();
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
            {
                let name = self.program.vars[var].name.map_or("", |it| self.program.names.text(it));
                if let Some((_, other)) = names.iter().find(|it| it.0 == name) {
                    exprs.insert(var, *other);
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        copy(&mut Copier { exprs, ..Copier::new(self.program) })
    }

    /// A statement for each value in two objects of a type that is combined at once.
    fn each(
        &mut self,
        a: ExprId,
        b: ExprId,
        how: &How,
        span: Span,
        of_value: &dyn Fn(&mut Self, ExprId, ExprId) -> Option<StmtId>,
    ) -> Result<StmtId> {
        let ty = self.program.exprs[a].ty;
        match self.program.types.shape(ty).clone() {
            TypeKind::Array(_, ArrayLen::Known(count)) => {
                let mut build = self.build(span);
                let number = build.number_type();
                let at = build.fresh("at", number);
                let zero = build.number(0);
                build.program.vars[at].init = Some(build.init(zero));
                let (index, end) =
                    (build.var(at), build.number(i64::try_from(count).unwrap_or(i64::MAX)));
                let condition = build.binary(BinaryOp::Lt, index, end);
                let step = build.increment(at);
                let (Some(a), Some(b)) = (build.element(a, index), build.element(b, index)) else {
                    return refuse("an array that is combined", span);
                };
                let declared = build.stmt(C::Local(at));
                let body = self.each(a, b, how, span, of_value)?;
                Ok(self.build(span).stmt(C::For(Box::new(For {
                    init: Box::new([declared]),
                    cond: Some(condition),
                    step: Some(step),
                    body,
                    unroll: None,
                    lanes: false,
                }))))
            }
            TypeKind::Record(record) if matches!(how, How::Operator(_)) => {
                let Some(fields) = self.program.types.records[record].fields.clone() else {
                    return refuse("a record that is combined", span);
                };
                let mut list = Vec::new();
                for (at, field) in fields.iter().enumerate() {
                    let Ok(at) = u32::try_from(at) else { continue };
                    // Bits without a name.
                    if field.name.is_none() && !self.program.types.is_record(field.ty) {
                        continue;
                    }
                    let mut build = self.build(span);
                    let member = |build: &mut Builder<'_>, of| {
                        build.expr(ExprKind::Member(of, record, at), field.ty)
                    };
                    let (a, b) = (member(&mut build, a), member(&mut build, b));
                    list.push(self.each(a, b, how, span, of_value)?);
                }
                Ok(self.build(span).stmt(C::Block(list.into())))
            }
            TypeKind::Array(..) => refuse("a variable whose type has a computed length", span),
            _ => match of_value(self, a, b) {
                Some(made) => Ok(made),
                None => refuse("a reduction of this type", span),
            },
        }
    }
}

/// The part of an array, or of what a pointer leads to, that begins with an element and has this type.
fn part_of(build: &mut Builder<'_>, var: VarId, lower: i64, ty: Ty) -> Option<ExprId> {
    let long = build.program.types.get(TypeKind::Int(IntKind::Long));
    let (whole, lower) = (build.var(var), build.int(lower, long));
    let first = build.element(whole, lower)?;
    let first = build.address(first);
    let to_part = build.program.types.pointer_to(ty);
    let first = build.cast(first, to_part);
    build.deref(first)
}

/// `a = a op b`
fn joined(build: &mut Builder<'_>, op: &ReductionOp<Typed>, a: ExprId, b: ExprId) -> ExprId {
    let ty = build.type_of(a);
    let int = build.int_type();
    let by = |build: &mut Builder<'_>, op| {
        let kind = build.program.model.promote(&build.program.types, ty);
        let computed = match build.program.types.is_integer(ty) || build.program.types.is_bool(ty) {
            true => build.program.types.get(kind),
            false => ty,
        };
        let b = build.cast(b, computed);
        build.expr(ExprKind::AssignOp(op, a, b, computed), ty)
    };
    match op {
        ReductionOp::Add | ReductionOp::Sub | ReductionOp::User(_) => by(build, BinaryOp::Add),
        ReductionOp::Mul => by(build, BinaryOp::Mul),
        ReductionOp::BitAnd => by(build, BinaryOp::BitAnd),
        ReductionOp::BitOr => by(build, BinaryOp::BitOr),
        ReductionOp::BitXor => by(build, BinaryOp::BitXor),
        ReductionOp::And => {
            let e = build.expr(ExprKind::And(a, b), int);
            build.assign(a, e)
        }
        ReductionOp::Or => {
            let e = build.expr(ExprKind::Or(a, b), int);
            build.assign(a, e)
        }
        ReductionOp::Min | ReductionOp::Max => {
            let op = if *op == ReductionOp::Min { BinaryOp::Lt } else { BinaryOp::Gt };
            let is_better = build.binary(op, b, a);
            let best = build.either(is_better, b, a);
            build.assign(a, best)
        }
    }
}
