//! What an iteration does to memory: all elements that it looks at or changes, and under what.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::walk::Part;
use kernel::copy::callee_of;

/// What an iteration does to memory.
pub(super) struct Reader<'p> {
    program: &'p Program,
    /// It may take addresses of elements: what is behind pointers is looked at where they are followed.
    pub(super) takes_addresses: bool,
    /// Elements that are changed, and those that are looked at.
    pub(super) changed: Vec<Access>,
    pub(super) looked: Vec<Access>,
}

/// An element.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) expr: ExprId,
    /// Loops around it.
    pub(super) loops: Vec<StmtId>,
    pub(super) is_conditional: bool,
    /// It is given a value and nothing else.
    pub(super) is_only_set: bool,
}

impl<'p> Reader<'p> {
    pub(super) fn new(program: &'p Program) -> Reader<'p> {
        Reader { program, takes_addresses: false, changed: Vec::new(), looked: Vec::new() }
    }
}

impl Reader<'_> {
    pub(super) fn stmt(
        &mut self,
        stmt: StmtId,
        loops: &[StmtId],
        is_conditional: bool,
    ) -> Option<()> {
        match &self.program.stmts[stmt].kind {
            C::Block(list) => {
                list.iter().try_for_each(|it| self.stmt(*it, loops, is_conditional).ok_or(())).ok()
            }
            C::If(condition, then, other) => {
                self.part(Part::Expr(*condition), loops, is_conditional)?;
                self.stmt(*then, loops, true)?;
                other.map_or(Some(()), |it| self.stmt(it, loops, true))
            }
            C::For(it) => {
                let inside: Vec<StmtId> = loops.iter().copied().chain([stmt]).collect();
                for part in it.init.iter().map(|it| Part::Stmt(*it)) {
                    self.part(part, loops, is_conditional)?;
                }
                for e in [it.cond, it.step].into_iter().flatten() {
                    self.part(Part::Expr(e), &inside, is_conditional)?;
                }
                self.stmt(it.body, &inside, is_conditional)
            }
            C::Empty | C::Local(_) | C::Expr(_) => {
                self.part(Part::Stmt(stmt), loops, is_conditional)
            }
            _ => None,
        }
    }

    fn part(&mut self, part: Part, loops: &[StmtId], is_conditional: bool) -> Option<()> {
        let program = self.program;
        let access = |expr, is_only_set| {
            let loops = loops.to_vec();
            Access { expr, loops, is_conditional, is_only_set }
        };
        let mut is_less = false;
        if let Part::Expr(e) = part {
            let kind = &program.exprs[e].kind;
            match *kind {
                ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to)
                    if !matches!(program.exprs[to].kind, ExprKind::Var(_)) =>
                {
                    let is_only_set = matches!(kind, ExprKind::Assign(..));
                    self.changed.push(access(to, is_only_set));
                }
                ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..)
                    if !program.types.is_array(program.exprs[e].ty) =>
                {
                    let is_set = |it: &&Access| it.expr == e;
                    let is_only_set = self.changed.iter().rev().find(is_set);
                    self.looked.push(access(e, is_only_set.is_some_and(|it| it.is_only_set)));
                }
                ExprKind::AddrOf(_) if !self.takes_addresses => return None,
                // Functions of the program look at what they like, others at what they are given.
                ExprKind::Call(callee, ref args) => {
                    let function = callee_of(program, callee)?;
                    let is_pointer = |it: &ExprId| program.types.is_pointer(program.exprs[*it].ty);
                    if program.functions[function].body.is_some() || args.iter().any(is_pointer) {
                        return None;
                    }
                }
                _ => {}
            }
            is_less =
                matches!(kind, ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Conditional(..));
        }
        let mut inner = Vec::new();
        match part {
            Part::Expr(e)
                if let ExprKind::Member(of, ..) | ExprKind::AddrOf(of) = program.exprs[e].kind =>
            {
                inside(program, of, &mut inner);
            }
            _ => program.parts(part, &mut |it| inner.push(it)),
        }
        for (at, it) in inner.into_iter().enumerate() {
            self.part(it, loops, is_conditional || is_less && at > 0)?;
        }
        Some(())
    }
}

/// What a place is found by of which a member is looked at: it is not looked at as a whole.
fn inside(program: &Program, place: ExprId, found: &mut Vec<Part>) {
    match program.exprs[place].kind {
        ExprKind::Member(of, ..) => inside(program, of, found),
        ExprKind::Index(a, b) => found.extend([Part::Expr(a), Part::Expr(b)]),
        ExprKind::Deref(a) => found.push(Part::Expr(a)),
        _ => found.push(Part::Expr(place)),
    }
}

/// The variable that an element is a part of, or that points to where it is.
pub(super) fn root_of(program: &Program, element: ExprId) -> Option<VarId> {
    let mut e = element;
    loop {
        e = match program.exprs[program.peeled(e)].kind {
            ExprKind::Var(var) => return Some(var),
            ExprKind::Member(of, ..) | ExprKind::Index(of, _) | ExprKind::Deref(of) => of,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let is_pointer = |it: ExprId| program.types.is_pointer(program.exprs[it].ty);
                if is_pointer(a) { a } else { Some(b).filter(|it| is_pointer(*it))? }
            }
            _ => return None,
        };
    }
}

/// Whether an element cannot be in an object, or behind a pointer.
pub(super) fn is_apart(program: &Program, look: ExprId, root: VarId) -> bool {
    let Some(other) = root_of(program, look) else { return false };
    let types = &program.types;
    let [a, b] = [root, other].map(|it| program.vars[it].ty);
    let is_restrict = |ty: ir::types::Ty| types.is_pointer(ty) && ty.quals.is_restrict;
    root != other
        && (is_restrict(a) || is_restrict(b) || !types.is_pointer(a) && !types.is_pointer(b))
}
