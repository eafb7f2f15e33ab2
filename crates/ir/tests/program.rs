//! The text of a small program, and what the verifier says when it is broken in one way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use ir::construct::{
    Args, Clause, ClauseKind, Construct, Dialect, Leaf, Map, MapFlags, Motion, Presence,
    ReductionOp, Rules,
};
use ir::layout::LP64;
use ir::print;
use ir::program::*;
use ir::region::{
    Attribute, Loop, LoopTest, Mapping, Origin, Pointee, Region, RegionVar, Rule, Sharing,
};
use ir::types::{ArrayLen, Field, FloatKind, FunctionType, IntKind, Record, Ty, TypeKind};
use ir::verify::{Law, verify};
use source::{Names, Span};

/// ```c
/// struct s { int m; } t[3];
/// double f(int n, double *a) {
///   double sum = 0.0;
///   #(offload, for) map(to: a[0 : n]) reduction(+ : sum)
///   for (int i = 0; i < n; i++)
///     sum = sum + a[i];
///   if (n) sum += t[1].m;
///   return sum;
/// }
/// ```
struct Sample {
    program: Program,
    int: Ty,
    double: Ty,
    f: FunctionId,
    n: VarId,
    a: VarId,
    i: VarId,
    sum: VarId,
    add: ExprId,
    assign: ExprId,
    element: ExprId,
    cond: ExprId,
    member: ExprId,
    ret: StmtId,
    body: StmtId,
    loop_stmt: StmtId,
    region: RegionId,
}

impl Sample {
    fn e(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.program.exprs.push(Expr { kind, ty, span: Span::NONE })
    }

    fn s(&mut self, kind: StmtKind) -> StmtId {
        self.program.stmts.push(Stmt { kind, span: Span::NONE })
    }

    fn v(&mut self, name: &str, ty: Ty, storage: VarStorage) -> VarId {
        let name = Some(self.program.names.intern(name));
        let (thread_local, align, init, device, span) = (false, None, None, None, Span::NONE);
        let var = Var {
            name,
            ty,
            declared_len: None,
            storage,
            thread_local,
            align,
            init,
            device,
            host: HostWords::default(),
            span,
        };
        self.program.vars.push(var)
    }

    fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.program.vars[var].ty;
        self.e(ExprKind::Var(var), ty)
    }

    fn int(&mut self, value: i64) -> ExprId {
        let int = self.int;
        self.e(ExprKind::Int(value), int)
    }
}

fn sample() -> Sample {
    let mut program = Program::new(&LP64, Names::new());
    let types = &mut program.types;
    let int = types.get(TypeKind::Int(IntKind::Int));
    let double = types.get(TypeKind::Float(FloatKind::Double));
    let pointer = types.pointer_to(double);
    let params: Box<[Ty]> = [int, pointer].into();
    let ty = FunctionType { ret: double, params, variadic: false, prototyped: true };
    let ty = types.get(TypeKind::Function(ty));
    let name = program.names.intern("f");
    let f = program.functions.push(Function {
        name,
        ty,
        params: Vec::new(),
        body: None,
        is_static: false,
        is_inline: false,
        is_external: true,
        noreturn: false,
        is_builtin: false,
        device: DeviceFunction { declared: true, level: Some(Level::Seq), ..Default::default() },
        host: HostWords::default(),
        calls: Vec::new(),
        indirect_calls: Vec::new(),
        span: Span::NONE,
    });
    let (v, e, s, r) = (
        VarId::from_index(0),
        ExprId::from_index(0),
        StmtId::from_index(0),
        RegionId::from_index(0),
    );
    let mut it = Sample {
        program,
        int,
        double,
        f,
        n: v,
        a: v,
        i: v,
        sum: v,
        add: e,
        assign: e,
        element: e,
        cond: e,
        member: e,
        ret: s,
        body: s,
        loop_stmt: s,
        region: r,
    };
    fill(&mut it, pointer);
    it
}

fn fill(it: &mut Sample, pointer: Ty) {
    let (int, double, f) = (it.int, it.double, it.f);
    let m = Some(it.program.names.intern("m"));
    let field =
        Field { name: m, ty: int, bits: None, align: None, packed: false, span: Span::NONE };
    let record = it.program.types.records.push(Record {
        tag: Some(it.program.names.intern("s")),
        is_union: false,
        fields: Some(vec![field]),
        packed: false,
        pack: None,
        align: None,
        transparent: false,
        span: Span::NONE,
    });
    let s = it.program.types.get(TypeKind::Record(record));
    let table = it.program.types.get(TypeKind::Array(s, ArrayLen::Known(3)));
    let t = it.v("t", table, VarStorage::Global);
    it.n = it.v("n", int, VarStorage::Param(f));
    it.a = it.v("a", pointer, VarStorage::Param(f));
    it.sum = it.v("sum", double, VarStorage::Local(f));
    it.i = it.v("i", int, VarStorage::Local(f));
    let (n, a, sum, i) = (it.n, it.a, it.sum, it.i);
    let zero = it.program.names.intern("0.0");
    let zero = it.e(ExprKind::Float(zero), double);
    it.program.vars[sum].init = Some(it.program.inits.push(Init::Expr(zero)));
    let begin = it.int(0);
    it.program.vars[i].init = Some(it.program.inits.push(Init::Expr(begin)));
    // for (int i = 0; i < n; i++) sum = sum + a[i];
    let (i1, n1) = (it.var(i), it.var(n));
    it.cond = it.e(ExprKind::Binary(BinaryOp::Lt, i1, n1), int);
    let i2 = it.var(i);
    let step = it.e(ExprKind::Step(StepOp::PostInc, i2), int);
    let (a1, i3) = (it.var(a), it.var(i));
    it.element = it.e(ExprKind::Index(a1, i3), double);
    let (left, right) = (it.var(sum), it.var(sum));
    it.add = it.e(ExprKind::Binary(BinaryOp::Add, right, it.element), double);
    it.assign = it.e(ExprKind::Assign(left, it.add), double);
    let inner = it.s(StmtKind::Expr(it.assign));
    let local = it.s(StmtKind::Local(i));
    let parts = For {
        init: [local].into(),
        cond: Some(it.cond),
        step: Some(step),
        body: inner,
        unroll: None,
        lanes: false,
    };
    it.loop_stmt = it.s(StmtKind::For(Box::new(parts)));
    let region = region(it, begin, n1, inner);
    it.region = it.program.regions.push(region);
    let region = it.s(StmtKind::Region(it.region));
    // if (n) sum += t[1].m;
    let (t, one) = (it.var(t), it.int(1));
    let t = it.e(ExprKind::Index(t, one), s);
    it.member = it.e(ExprKind::Member(t, record, 0), int);
    let member = it.e(ExprKind::Cast(CastKind::Implicit, it.member), double);
    let total = it.var(sum);
    let more = it.e(ExprKind::AssignOp(BinaryOp::Add, total, member, double), double);
    let (then, n2) = (it.s(StmtKind::Expr(more)), it.var(n));
    let test = it.s(StmtKind::If(n2, then, None));
    let result = it.var(sum);
    it.ret = it.s(StmtKind::Return(Some(result)));
    let local = it.s(StmtKind::Local(sum));
    it.body = it.s(StmtKind::Block([local, region, test, it.ret].into()));
    it.program.functions[f].params = vec![n, a];
    it.program.functions[f].body = Some(it.body);
    it.program.items = vec![Item::Var(VarId::from_index(0)), Item::Function(f)];
}

fn region(it: &mut Sample, begin: ExprId, bound: ExprId, body: StmtId) -> Region {
    let (a, sum) = (it.var(it.a), it.var(it.sum));
    let section = Section { base: a, lower: Some(begin), length: Some(bound), stride: None };
    let section = it.e(ExprKind::Section(Box::new(section)), it.double);
    let clause = |kind| Clause { kind, on: None, group: None, switch: None, span: Span::NONE };
    let map = Map {
        motion: Motion::To,
        presence: Presence::Any,
        flags: MapFlags::default(),
        mapper: None,
        iterators: Vec::new(),
        items: vec![section],
    };
    let reduction = ir::construct::Reduction {
        modifier: None,
        original: None,
        op: ReductionOp::Add,
        items: vec![sum],
    };
    let construct = Construct {
        dialect: Dialect(0),
        leaves: vec![Leaf::Offload, Leaf::For],
        args: Args::None,
        clauses: vec![clause(ClauseKind::Map(map)), clause(ClauseKind::Reduction(reduction))],
        groups: Vec::new(),
        rules: Rules::NONE,
        span: Span::NONE,
    };
    let loops = vec![Loop {
        stmt: it.loop_stmt,
        var: it.i,
        begin,
        bound,
        test: LoopTest::Lt,
        step: None,
        descending: false,
        trips: None,
        body,
        rectangular: true,
        span: Span::NONE,
    }];
    let (read, written, span) = (true, false, Span::NONE);
    let pointee = Pointee::UNTOUCHED;
    let mapping = Mapping::Map(Motion::To, Presence::Any, Some(section));
    let mappings = vec![Attribute { value: mapping, origin: Origin::Clause(0) }];
    let a = RegionVar { var: it.a, sharing: None, mappings, read, written, pointee, span };
    let sharing = Sharing::Reduction(ReductionOp::Add);
    let sharing = Some(Attribute { value: sharing, origin: Origin::Clause(1) });
    let sum =
        RegionVar { var: it.sum, sharing, mappings: vec![], read, written: true, pointee, span };
    let sharing =
        Attribute { value: Sharing::FirstPrivate, origin: Origin::Rule(Rule::ScalarDefault) };
    let n = RegionVar {
        var: it.n,
        sharing: Some(sharing),
        mappings: vec![],
        read,
        written,
        pointee,
        span,
    };
    Region {
        construct,
        body: Some(it.loop_stmt),
        function: it.f,
        parent: None,
        loops,
        vars: vec![a, sum, n],
        reaches: Vec::new(),
        indirect_calls: Vec::new(),
        span,
    }
}

#[test]
fn a_program_has_one_text() {
    let expect = "\
@t: struct s [3]
@f(n: int, a: double *) -> double device-function declared level=seq
  {
    local sum: double = 0.0
    region offload for
      clause map motion=to presence=any items=[a[0 : n]]
      clause reduction op=add items=[sum]
      loop i from 0 while < n
      a: mapped to any a[0 : n] by clause 0, read
      sum: reduction(add) by clause 1, read, written
      n: first-private by rule scalar-default, read
      for (local i: int = 0; (i < n); i++)
        sum = (sum + a[i])
    if n
      sum +=<double> <double>@t[1].m
    return sum
  }
";
    let it = sample();
    assert_eq!(print::program(&it.program), expect);
}

#[test]
fn a_lawful_program_has_no_violation() {
    assert_eq!(verify(&sample().program), []);
}

/// Breaks the sample; the law must be named, with this in the detail.
#[track_caller]
fn broken(law: Law, detail: &str, change: impl FnOnce(&mut Sample)) {
    let mut it = sample();
    change(&mut it);
    let found = verify(&it.program);
    let named = found.iter().any(|it| it.law == law && it.detail.contains(detail));
    assert!(named, "{law:?} `{detail}` is not among {found:#?}");
    // A text can be had of broken programs too.
    assert!(!print::program(&it.program).is_empty());
}

#[test]
fn handles_exist() {
    broken(Law::Handle, "Expr(#999) does not exist", |it| {
        it.program.exprs[it.assign].kind = ExprKind::Deref(ExprId::from_index(999));
    });
    broken(Law::Handle, "names nothing", |it| {
        it.program.exprs[it.element].kind = ExprKind::Var(VarId::from_index(99));
    });
    broken(Law::Handle, "region", |it| {
        it.program.regions[it.region].vars[0].var = VarId::from_index(99);
    });
}

#[test]
fn operands_are_converted() {
    broken(Law::Operand, "the right operand is `int`, not `double`", |it| {
        let n = it.var(it.n);
        let ExprKind::Binary(_, _, right) = &mut it.program.exprs[it.add].kind else { panic!() };
        *right = n;
    });
    broken(Law::Operand, "do not suit", |it| {
        let ExprKind::Binary(op, ..) = &mut it.program.exprs[it.add].kind else { panic!() };
        *op = BinaryOp::Rem;
    });
    broken(Law::ResultType, "no `int`", |it| it.program.exprs[it.cond].ty = it.double);
}

#[test]
fn assignments_fit_objects() {
    broken(Law::Assignment, "what is assigned is `int`, not `double`", |it| {
        let (left, right) = (it.var(it.sum), it.var(it.n));
        it.program.exprs[it.assign].kind = ExprKind::Assign(left, right);
    });
    broken(Law::Assignment, "no object", |it| {
        let right = it.var(it.sum);
        it.program.exprs[it.assign].kind = ExprKind::Assign(it.add, right);
    });
}

#[test]
fn members_elements_and_casts_are_what_they_say() {
    broken(Law::Member, "no such member", |it| {
        let ExprKind::Member(_, _, at) = &mut it.program.exprs[it.member].kind else { panic!() };
        *at = 7;
    });
    broken(Law::Member, "another record", |it| {
        let n = it.var(it.n);
        let ExprKind::Member(e, ..) = &mut it.program.exprs[it.member].kind else { panic!() };
        *e = n;
    });
    broken(Law::Index, "no array or pointer", |it| {
        let (base, index) = (it.var(it.sum), it.var(it.n));
        it.program.exprs[it.element].kind = ExprKind::Index(base, index);
    });
    broken(Law::Index, "the index is no integer", |it| {
        let (base, index) = (it.var(it.a), it.var(it.sum));
        it.program.exprs[it.element].kind = ExprKind::Index(base, index);
    });
    broken(Law::Cast, "no array", |it| {
        let n = it.var(it.n);
        it.program.exprs[it.element].kind = ExprKind::Cast(CastKind::ArrayToPointer, n);
    });
}

#[test]
fn calls_match_prototypes() {
    let call = |it: &mut Sample, args: Vec<ExprId>| {
        let ty = it.program.functions[it.f].ty;
        let to = it.program.types.pointer_to(ty);
        let f = it.e(ExprKind::Function(it.f), ty);
        let f = it.e(ExprKind::Cast(CastKind::FunctionToPointer, f), to);
        it.program.exprs[it.add].kind = ExprKind::Call(f, args.into());
    };
    broken(Law::Call, "number of arguments", |it| {
        let n = it.var(it.n);
        call(it, vec![n]);
    });
    broken(Law::Call, "an argument is `int`, not `double *`", |it| {
        let (n, m) = (it.var(it.n), it.var(it.n));
        call(it, vec![n, m]);
    });
}

#[test]
fn statements_stand_where_they_may() {
    broken(Law::Return, "the value is `int`, not `double`", |it| {
        let n = it.var(it.n);
        it.program.stmts[it.ret].kind = StmtKind::Return(Some(n));
    });
    broken(Law::Jump, "`break`", |it| it.program.stmts[it.ret].kind = StmtKind::Break);
    broken(Law::Jump, "label", |it| {
        let name = it.program.names.intern("out");
        let label = it.program.labels.push(Label { name, span: Span::NONE });
        it.program.stmts[it.ret].kind = StmtKind::Goto(label);
    });
    broken(Law::Tree, "two places", |it| {
        it.program.stmts[it.body].kind = StmtKind::Block([it.ret, it.ret].into());
    });
    broken(Law::Condition, "no scalar", |it| {
        let t = it.var(VarId::from_index(0));
        let empty = it.s(StmtKind::Empty);
        it.program.stmts[it.ret].kind = StmtKind::While(t, empty);
    });
}

#[test]
fn initialisers_fit() {
    broken(Law::Init, "`double`, not `int`", |it| {
        let init = it.program.vars[it.sum].init;
        it.program.vars[it.i].init = init;
    });
    broken(Law::Init, "outside", |it| {
        let table = it.program.vars[VarId::from_index(0)].ty;
        let value = it.program.vars[it.i].init.unwrap();
        let element = InitElement { first: 3, last: 3, value };
        it.program.inits.push(Init::List(table, vec![element]));
    });
}

#[test]
fn regions_are_as_they_say() {
    broken(Law::Region, "around it", |it| {
        it.program.regions[it.region].parent = Some(it.region);
    });
    broken(Law::Region, "no part", |it| {
        it.program.regions[it.region].construct.leaves.clear();
    });
    broken(Law::Loop, "not in the region", |it| {
        it.program.regions[it.region].body = None;
    });
    broken(Law::Loop, "no `for` statement", |it| {
        it.program.regions[it.region].loops[0].stmt = it.ret;
    });
    broken(Law::RegionVar, "declared inside", |it| {
        it.program.regions[it.region].vars[0].var = it.i;
    });
    broken(Law::RegionVar, "does not exist", |it| {
        let var = &mut it.program.regions[it.region].vars[0];
        var.mappings[0].origin = Origin::Clause(9);
    });
    broken(Law::RegionVar, "twice", |it| {
        let again = it.program.regions[it.region].vars[0].clone();
        it.program.regions[it.region].vars.push(again);
    });
}

#[test]
fn reported_types_are_excused() {
    let mut it = sample();
    let error = it.program.types.get(TypeKind::Error);
    it.program.exprs[it.element].ty = error;
    it.program.exprs[it.add].ty = error;
    assert_eq!(verify(&it.program), []);
}
