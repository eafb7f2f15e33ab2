//! Carries a construct from one phase to another: as written → typed, as written → text.
//!
//! In: a construct and somebody who knows how to carry an expression, a type, an initialiser and a
//! name. Out: the same construct in the other phase, nothing added and nothing lost. The order of
//! visits is the order of writing, except that iterators come before the items that use them.

use source::Span;

use super::*;

/// Carries the parts of a construct that differ between phases.
pub trait Convert<P: Phase, Q: Phase> {
    /// An expression or list item.
    fn expr(&mut self, expr: &P::Expr) -> Q::Expr;
    /// A type.
    fn ty(&mut self, ty: &P::Type) -> Q::Type;
    /// An initialiser.
    fn init(&mut self, init: &P::Init) -> Q::Init;
    /// A name.
    fn name(&mut self, name: &P::Name) -> Q::Name;

    /// A place; those who compare texts leave it out.
    fn span(&mut self, span: Span) -> Span {
        span
    }

    /// Called before the types and combiner of a user's reduction; its clauses come later.
    fn enter_reduction(&mut self, _: &ReductionDecl<P>) {}
    /// Called with a mapper's declaration, before the clauses that use its variable.
    fn enter_mapper(&mut self, _: &MapperDecl<P>) {}
    /// Called with iterators, before the items that use them.
    fn enter_iterators(&mut self, _: &[IteratorVar<P>]) {}
    /// Called after those items.
    fn leave_iterators(&mut self, _: &[IteratorVar<P>]) {}
    /// Called before the expression of each clause, to know where it stands.
    fn enter_clause(&mut self, _: &Clause<P>) {}
}

impl<P: Phase> Construct<P> {
    /// The same construct in another phase.
    pub fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> Construct<Q> {
        Construct {
            dialect: self.dialect,
            leaves: self.leaves.clone(),
            args: self.args.convert(cx),
            clauses: self.clauses.iter().map(|it| it.convert(cx)).collect(),
            groups: self.groups.iter().map(|it| it.convert(cx)).collect(),
            rules: self.rules,
            span: cx.span(self.span),
        }
    }
}

impl<P: Phase> DeviceGroup<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> DeviceGroup<Q> {
        DeviceGroup { types: names(&self.types, cx), span: cx.span(self.span) }
    }
}

impl<P: Phase> Clause<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> Clause<Q> {
        cx.enter_clause(self);
        let kind = self.kind.convert(cx);
        let switch = maybe(&self.switch, cx);
        Clause { kind, on: self.on, group: self.group, switch, span: cx.span(self.span) }
    }
}

fn exprs<P: Phase, Q: Phase>(list: &[P::Expr], cx: &mut impl Convert<P, Q>) -> Vec<Q::Expr> {
    list.iter().map(|it| cx.expr(it)).collect()
}

fn names<P: Phase, Q: Phase>(list: &[P::Name], cx: &mut impl Convert<P, Q>) -> Vec<Q::Name> {
    list.iter().map(|it| cx.name(it)).collect()
}

fn maybe<P: Phase, Q: Phase>(
    expr: &Option<P::Expr>,
    cx: &mut impl Convert<P, Q>,
) -> Option<Q::Expr> {
    expr.as_ref().map(|it| cx.expr(it))
}

fn iterators<P: Phase, Q: Phase>(
    list: &[IteratorVar<P>],
    cx: &mut impl Convert<P, Q>,
) -> Vec<IteratorVar<Q>> {
    let carried = list
        .iter()
        .map(|it| IteratorVar {
            ty: it.ty.as_ref().map(|ty| cx.ty(ty)),
            name: cx.name(&it.name),
            begin: cx.expr(&it.begin),
            end: cx.expr(&it.end),
            step: maybe(&it.step, cx),
        })
        .collect();
    cx.enter_iterators(list);
    carried
}

impl<P: Phase> Args<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> Args<Q> {
        match self {
            Args::None => Args::None,
            Args::Items(items) => Args::Items(exprs(items, cx)),
            Args::ReadonlyItems(items) => Args::ReadonlyItems(exprs(items, cx)),
            Args::Name(name) => Args::Name(cx.name(name)),
            Args::Variant(decl) => Args::Variant(VariantDecl {
                base: decl.base.as_ref().map(|it| cx.name(it)),
                variant: cx.name(&decl.variant),
            }),
            Args::Object(expr) => Args::Object(cx.expr(expr)),
            Args::Cancel(kind) => Args::Cancel(*kind),
            Args::Wait(wait) => Args::Wait(wait.convert(cx)),
            Args::Reduction(decl) => Args::Reduction(Box::new(decl.convert(cx))),
            Args::Mapper(decl) => {
                let ty = cx.ty(&decl.ty);
                cx.enter_mapper(decl);
                let name = decl.name.as_ref().map(|it| cx.name(it));
                Args::Mapper(Box::new(MapperDecl { name, ty, var: cx.name(&decl.var) }))
            }
            Args::Memory(kinds) => Args::Memory(
                kinds
                    .iter()
                    .map(|it| MemoryKind {
                        space: it.space.as_ref().map(|it| cx.name(it)),
                        by: it.by,
                        items: exprs(&it.items, cx),
                    })
                    .collect(),
            ),
            Args::Text(text) => Args::Text(cx.name(text)),
        }
    }
}

impl<P: Phase> WaitArgs<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> WaitArgs<Q> {
        WaitArgs {
            device: maybe(&self.device, cx),
            has_queues_word: self.has_queues_word,
            queues: exprs(&self.queues, cx),
        }
    }
}

impl<P: Phase> ReductionDecl<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> ReductionDecl<Q> {
        cx.enter_reduction(self);
        ReductionDecl {
            name: self.name.convert(cx),
            types: self.types.iter().map(|it| cx.ty(it)).collect(),
            combiner: maybe(&self.combiner, cx),
        }
    }
}

impl<P: Phase> ReductionInit<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> ReductionInit<Q> {
        match self {
            ReductionInit::Assign(init) => ReductionInit::Assign(cx.init(init)),
            ReductionInit::Call(call) => ReductionInit::Call(cx.expr(call)),
        }
    }
}

impl<P: Phase> ReductionOp<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> ReductionOp<Q> {
        match self {
            ReductionOp::Add => ReductionOp::Add,
            ReductionOp::Sub => ReductionOp::Sub,
            ReductionOp::Mul => ReductionOp::Mul,
            ReductionOp::BitAnd => ReductionOp::BitAnd,
            ReductionOp::BitOr => ReductionOp::BitOr,
            ReductionOp::BitXor => ReductionOp::BitXor,
            ReductionOp::And => ReductionOp::And,
            ReductionOp::Or => ReductionOp::Or,
            ReductionOp::Min => ReductionOp::Min,
            ReductionOp::Max => ReductionOp::Max,
            ReductionOp::User(name) => ReductionOp::User(cx.name(name)),
        }
    }
}

impl<P: Phase> Reduction<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> Reduction<Q> {
        Reduction {
            modifier: self.modifier,
            original: self.original,
            op: self.op.convert(cx),
            items: exprs(&self.items, cx),
        }
    }
}

impl<P: Phase> InteropInit<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> InteropInit<Q> {
        InteropInit {
            target: self.target,
            targetsync: self.targetsync,
            prefer: self.prefer.as_ref().map(|it| it.iter().map(|it| it.convert(cx)).collect()),
            depend: self.depend.as_ref().map(|(kind, items)| (*kind, exprs(items, cx))),
        }
    }
}

impl<P: Phase> PreferredRuntime<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> PreferredRuntime<Q> {
        match self {
            PreferredRuntime::Id(id) => PreferredRuntime::Id(cx.expr(id)),
            PreferredRuntime::Described { id, attrs } => {
                PreferredRuntime::Described { id: maybe(id, cx), attrs: exprs(attrs, cx) }
            }
        }
    }
}

impl<P: Phase> SelectorSet<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> SelectorSet<Q> {
        let selectors = self
            .selectors
            .iter()
            .map(|it| Selector {
                name: cx.name(&it.name),
                score: maybe(&it.score, cx),
                properties: it
                    .properties
                    .as_ref()
                    .map(|list| list.iter().map(|it| it.convert(cx)).collect()),
            })
            .collect();
        SelectorSet { set: self.set, selectors }
    }
}

impl<P: Phase> Property<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> Property<Q> {
        match self {
            Property::Name(name) => Property::Name(cx.name(name)),
            Property::Expr(expr) => Property::Expr(cx.expr(expr)),
            Property::Clause(clause) => Property::Clause(Box::new(clause.convert(cx))),
            Property::Nested(name, list) => {
                Property::Nested(cx.name(name), list.iter().map(|it| it.convert(cx)).collect())
            }
        }
    }
}

impl<P: Phase> ClauseKind<P> {
    #[allow(clippy::too_many_lines, reason = "one arm per kind of clause, nothing else")]
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> ClauseKind<Q> {
        use ClauseKind as K;
        match self {
            K::Map(map) => {
                let iterators = iterators(&map.iterators, cx);
                let items = exprs(&map.items, cx);
                cx.leave_iterators(&map.iterators);
                K::Map(Map {
                    motion: map.motion,
                    presence: map.presence,
                    flags: map.flags,
                    mapper: map.mapper.as_ref().map(|it| cx.name(it)),
                    iterators,
                    items,
                })
            }
            K::Transfer(transfer) => {
                let iterators = iterators(&transfer.iterators, cx);
                let items = exprs(&transfer.items, cx);
                cx.leave_iterators(&transfer.iterators);
                K::Transfer(Transfer {
                    to_device: transfer.to_device,
                    old_word: transfer.old_word,
                    presence: transfer.presence,
                    mapper: transfer.mapper.as_ref().map(|it| cx.name(it)),
                    iterators,
                    items,
                })
            }
            K::UseDevice(what, items) => K::UseDevice(*what, exprs(items, cx)),
            K::DevicePointer(items) => K::DevicePointer(exprs(items, cx)),
            K::HasDeviceAddr(items) => K::HasDeviceAddr(exprs(items, cx)),
            K::Attach(items) => K::Attach(exprs(items, cx)),
            K::Detach(items) => K::Detach(exprs(items, cx)),
            K::Finalize => K::Finalize,
            K::IfPresent => K::IfPresent,
            K::DeviceEnter { automap, old_word, items } => {
                K::DeviceEnter { automap: *automap, old_word: *old_word, items: exprs(items, cx) }
            }
            K::DeviceLink(items) => K::DeviceLink(exprs(items, cx)),
            K::DeviceResident(items) => K::DeviceResident(exprs(items, cx)),
            K::DeviceLocal(items) => K::DeviceLocal(exprs(items, cx)),
            K::DeviceKind(kind) => K::DeviceKind(*kind),
            K::DefaultMap(how, category) => K::DefaultMap(*how, *category),
            K::Default(how, category) => K::Default(*how, *category),
            K::Shared(items) => K::Shared(exprs(items, cx)),
            K::Private(items) => K::Private(exprs(items, cx)),
            K::FirstPrivate { saved, items } => {
                K::FirstPrivate { saved: *saved, items: exprs(items, cx) }
            }
            K::LastPrivate { conditional, items } => {
                K::LastPrivate { conditional: *conditional, items: exprs(items, cx) }
            }
            K::Linear(linear) => K::Linear(Linear {
                kind: linear.kind,
                old_form: linear.old_form,
                items: exprs(&linear.items, cx),
                step: maybe(&linear.step, cx),
                has_step_word: linear.has_step_word,
            }),
            K::Reduction(it) => K::Reduction(it.convert(cx)),
            K::InReduction(it) => K::InReduction(it.convert(cx)),
            K::TaskReduction(it) => K::TaskReduction(it.convert(cx)),
            K::Induction(it) => K::Induction(Induction {
                op: it.op.convert(cx),
                strict: it.strict,
                step: maybe(&it.step, cx),
                items: exprs(&it.items, cx),
            }),
            K::CopyIn(items) => K::CopyIn(exprs(items, cx)),
            K::CopyPrivate(items) => K::CopyPrivate(exprs(items, cx)),
            K::Inclusive(items) => K::Inclusive(exprs(items, cx)),
            K::Exclusive(items) => K::Exclusive(exprs(items, cx)),
            K::InitComplete => K::InitComplete,
            K::Aligned(items, by) => K::Aligned(exprs(items, cx), maybe(by, cx)),
            K::Nontemporal(items) => K::Nontemporal(exprs(items, cx)),
            K::Uniform(items) => K::Uniform(exprs(items, cx)),
            K::Allocate(it) => K::Allocate(Allocate {
                allocator: maybe(&it.allocator, cx),
                has_word: it.has_word,
                align: maybe(&it.align, cx),
                items: exprs(&it.items, cx),
            }),
            K::Allocator(expr) => K::Allocator(cx.expr(expr)),
            K::Align(expr) => K::Align(cx.expr(expr)),
            K::UsesAllocators(list) => K::UsesAllocators(
                list.iter()
                    .map(|it| AllocatorUse {
                        allocator: cx.expr(&it.allocator),
                        space: maybe(&it.space, cx),
                        traits: maybe(&it.traits, cx),
                        old_form: it.old_form,
                    })
                    .collect(),
            ),
            K::If(expr) => K::If(cx.expr(expr)),
            K::SelfExec(expr) => K::SelfExec(maybe(expr, cx)),
            K::Device(modifier, expr) => K::Device(*modifier, cx.expr(expr)),
            K::DeviceNum(expr) => K::DeviceNum(cx.expr(expr)),
            K::DeviceTypes(types) => K::DeviceTypes(names(types, cx)),
            K::NumTeams { lower, counts } => {
                K::NumTeams { lower: maybe(lower, cx), counts: exprs(counts, cx) }
            }
            K::NumThreads { strict, counts } => {
                K::NumThreads { strict: *strict, counts: exprs(counts, cx) }
            }
            K::ThreadLimit(expr) => K::ThreadLimit(cx.expr(expr)),
            K::NumWorkers(expr) => K::NumWorkers(cx.expr(expr)),
            K::VectorLength(expr) => K::VectorLength(cx.expr(expr)),
            K::Gang(args) => K::Gang(
                args.iter()
                    .map(|it| match it {
                        GangArg::Num(expr, word) => GangArg::Num(cx.expr(expr), *word),
                        GangArg::Dim(expr) => GangArg::Dim(cx.expr(expr)),
                        GangArg::Static(expr) => GangArg::Static(maybe(expr, cx)),
                    })
                    .collect(),
            ),
            K::Worker(arg) => K::Worker(arg.as_ref().map(|it| it.convert(cx))),
            K::Vector(arg) => K::Vector(arg.as_ref().map(|it| it.convert(cx))),
            K::Seq => K::Seq,
            K::Auto => K::Auto,
            K::Independent => K::Independent,
            K::Bind(level) => K::Bind(*level),
            K::Filter(expr) => K::Filter(cx.expr(expr)),
            K::ProcBind(how) => K::ProcBind(*how),
            K::Threadset(which) => K::Threadset(*which),
            K::Collapse { force, count } => K::Collapse { force: *force, count: cx.expr(count) },
            K::TileLoop(sizes) => K::TileLoop(sizes.iter().map(|it| maybe(it, cx)).collect()),
            K::Sizes(sizes) => K::Sizes(exprs(sizes, cx)),
            K::Schedule(it) => K::Schedule(Schedule {
                kind: it.kind,
                monotonic: it.monotonic,
                simd: it.simd,
                chunk: maybe(&it.chunk, cx),
            }),
            K::DistSchedule(chunk) => K::DistSchedule(maybe(chunk, cx)),
            K::Ordered(count) => K::Ordered(maybe(count, cx)),
            K::Order(modifier) => K::Order(*modifier),
            K::OrderedBy(what) => K::OrderedBy(*what),
            K::Safelen(expr) => K::Safelen(cx.expr(expr)),
            K::Simdlen(expr) => K::Simdlen(cx.expr(expr)),
            K::Full => K::Full,
            K::Partial(factor) => K::Partial(maybe(factor, cx)),
            K::Permutation(order) => K::Permutation(exprs(order, cx)),
            K::LoopRange(first, count) => K::LoopRange(cx.expr(first), cx.expr(count)),
            K::Counts(counts) => K::Counts(counts.iter().map(|it| maybe(it, cx)).collect()),
            K::Apply { which, positions, directives } => K::Apply {
                which: which.as_ref().map(|it| cx.name(it)),
                positions: exprs(positions, cx),
                directives: directives.iter().map(|it| it.convert(cx)).collect(),
            },
            K::Nowait(expr) => K::Nowait(maybe(expr, cx)),
            K::Async(expr) => K::Async(maybe(expr, cx)),
            K::Wait(args) => K::Wait(args.as_ref().map(|it| it.convert(cx))),
            K::DefaultAsync(expr) => K::DefaultAsync(cx.expr(expr)),
            K::Depend(depend) => {
                let iterators = iterators(&depend.iterators, cx);
                let items = exprs(&depend.items, cx);
                cx.leave_iterators(&depend.iterators);
                let all_memory = depend.all_memory;
                K::Depend(Depend { kind: depend.kind, iterators, items, all_memory })
            }
            K::Doacross(it) => K::Doacross(Doacross {
                old_form: it.old_form,
                kind: match &it.kind {
                    DoacrossKind::Source { has_word } => {
                        DoacrossKind::Source { has_word: *has_word }
                    }
                    DoacrossKind::Sink(vector) => DoacrossKind::Sink(exprs(vector, cx)),
                    DoacrossKind::SinkPrevious => DoacrossKind::SinkPrevious,
                },
            }),
            K::DepobjUpdate(kind) => K::DepobjUpdate(*kind),
            K::Destroy(expr) => K::Destroy(maybe(expr, cx)),
            K::Final(expr) => K::Final(cx.expr(expr)),
            K::Untied(expr) => K::Untied(maybe(expr, cx)),
            K::Mergeable(expr) => K::Mergeable(maybe(expr, cx)),
            K::Priority(expr) => K::Priority(cx.expr(expr)),
            K::DetachEvent(expr) => K::DetachEvent(cx.expr(expr)),
            K::Affinity(vars, items) => {
                let carried = iterators(vars, cx);
                let items = exprs(items, cx);
                cx.leave_iterators(vars);
                K::Affinity(carried, items)
            }
            K::Grainsize(strict, expr) => K::Grainsize(*strict, cx.expr(expr)),
            K::NumTasks(strict, expr) => K::NumTasks(*strict, cx.expr(expr)),
            K::Nogroup(expr) => K::Nogroup(maybe(expr, cx)),
            K::Transparent(expr) => K::Transparent(maybe(expr, cx)),
            K::Replayable(expr) => K::Replayable(maybe(expr, cx)),
            K::GraphId(expr) => K::GraphId(cx.expr(expr)),
            K::GraphReset(expr) => K::GraphReset(cx.expr(expr)),
            K::AtomicKind(kind) => K::AtomicKind(*kind),
            K::MemoryOrder(order) => K::MemoryOrder(*order),
            K::Fail(order) => K::Fail(*order),
            K::Weak => K::Weak,
            K::Coexecute => K::Coexecute,
            K::MemScope(scope) => K::MemScope(*scope),
            K::Hint(expr) => K::Hint(cx.expr(expr)),
            K::Require(what, expr) => K::Require(*what, maybe(expr, cx)),
            K::AtomicDefaultOrder(order) => K::AtomicDefaultOrder(*order),
            K::Absent(directives) => K::Absent(directives.clone()),
            K::Contains(directives) => K::Contains(directives.clone()),
            K::Holds(expr) => K::Holds(cx.expr(expr)),
            K::NoUse(what, expr) => K::NoUse(*what, maybe(expr, cx)),
            K::Match(sets) => K::Match(sets.iter().map(|it| it.convert(cx)).collect()),
            K::When(sets, directive) => K::When(
                sets.iter().map(|it| it.convert(cx)).collect(),
                directive.as_ref().map(|it| Box::new(it.convert(cx))),
            ),
            K::Otherwise { old_word, directive } => K::Otherwise {
                old_word: *old_word,
                directive: directive.as_ref().map(|it| Box::new(it.convert(cx))),
            },
            K::AdjustArgs(op, items) => K::AdjustArgs(*op, exprs(items, cx)),
            K::AppendArgs(list) => K::AppendArgs(list.iter().map(|it| it.convert(cx)).collect()),
            K::Novariants(expr) => K::Novariants(cx.expr(expr)),
            K::Nocontext(expr) => K::Nocontext(cx.expr(expr)),
            K::InteropArgs(items) => K::InteropArgs(exprs(items, cx)),
            K::InteropInit(init, object) => K::InteropInit(init.convert(cx), cx.expr(object)),
            K::InteropUse(expr) => K::InteropUse(cx.expr(expr)),
            K::Inbranch => K::Inbranch,
            K::Notinbranch => K::Notinbranch,
            K::Indirect(expr) => K::Indirect(maybe(expr, cx)),
            K::BindName(expr) => K::BindName(cx.expr(expr)),
            K::Nohost => K::Nohost,
            K::At(time) => K::At(*time),
            K::Severity(severity) => K::Severity(*severity),
            K::Message(expr) => K::Message(cx.expr(expr)),
            K::Combiner(expr) => K::Combiner(cx.expr(expr)),
            K::Initializer(init) => K::Initializer(init.convert(cx)),
            K::Inductor(expr) => K::Inductor(cx.expr(expr)),
            K::Collector(expr) => K::Collector(cx.expr(expr)),
            K::Extension(name, args) => {
                K::Extension(cx.name(name), args.as_ref().map(|it| exprs(it, cx)))
            }
        }
    }
}

impl<P: Phase> LevelArg<P> {
    fn convert<Q: Phase>(&self, cx: &mut impl Convert<P, Q>) -> LevelArg<Q> {
        LevelArg { count: cx.expr(&self.count), has_word: self.has_word }
    }
}
