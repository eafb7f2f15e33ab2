//! Directives that choose a directive: replaced by the one they choose.
//!
//! In: a metadirective as written and what it governs. Out: the region of the directive that it
//! chooses, or what it governs alone. Where only the running program can choose, a region of the
//! metadirective whose body tests: each branch has the directive with a body of its own.

use directive::Written;
use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{RegionId, Rewrite, Rewritten, StmtId, StmtKind, Typed, VarId};
use rustc_hash::FxHashMap;
use source::Span;
use syntax::ast;

use super::score::Selector;
use super::sides::Side;
use super::{Plan, Spot};
use crate::Cx;
use crate::directives::declares;

/// What a directive governs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Governed<'t> {
    Nothing,
    One(ast::StmtId),
    /// All up to an end marker, which stands there.
    Until(&'t [ast::StmtId], Span),
}

/// Static variables of a body that is there once for each directive to choose from: they stay one object
/// each, declared before the choice.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    /// By where they were declared.
    known: FxHashMap<Span, VarId>,
    declared: Vec<StmtId>,
}

/// One of the directives to choose from.
struct Alternative {
    selector: Selector,
    /// None is none at all: `nothing`.
    directive: Option<Construct<Typed>>,
    takes_body: bool,
}

impl<'t> Cx<'t> {
    /// Whether `construct` chooses another one.
    pub(crate) fn chooses(construct: &Construct<Written>) -> bool {
        construct.has(Leaf::Metadirective) || construct.has(Leaf::BeginMetadirective)
    }

    /// Whether `first` begins a choice that ends in `after`: its directive, what is between, and the
    /// end marker.
    pub(crate) fn marked_choice(
        &self,
        first: ast::StmtId,
        after: &'t [ast::StmtId],
    ) -> Option<(&'t Construct<Written>, &'t [ast::StmtId], Span)> {
        let begins = self.directive_of(first).filter(|it| it.has(Leaf::BeginMetadirective))?;
        let mut depth = 0usize;
        for (at, &stmt) in after.iter().enumerate() {
            let Some(construct) = self.directive_of(stmt) else { continue };
            if construct.has(Leaf::BeginMetadirective) {
                depth += 1;
            } else if construct.has(Leaf::EndMetadirective) {
                if depth == 0 {
                    return Some((begins, after.get(..at)?, construct.span));
                }
                depth -= 1;
            }
        }
        None
    }

    fn directive_of(&self, stmt: ast::StmtId) -> Option<&'t Construct<Written>> {
        let ast::StmtKind::Pragma(pragma, _) = self.tree.stmts[stmt].kind else { return None };
        self.directives.get(pragma)
    }

    /// A metadirective in a function, with what it governs.
    pub(crate) fn metadirective(
        &mut self,
        construct: &Construct<Written>,
        governed: Governed<'t>,
        out: &mut Vec<StmtId>,
    ) {
        let Some(function) = self.function.as_ref().map(|it| it.id) else { return };
        let (typed, _) = self.typed(construct);
        let alternatives = self.alternatives(construct, &typed);
        let name = self.program.functions[function].name;
        let side = self.sides.get(&name).copied().unwrap_or(Side::Host);
        let outside = self.constructs_of_variant(function);
        let spot = self.spot(&outside, self.regions.last().copied(), side, construct.span);
        let selectors: Vec<Selector> = alternatives.iter().map(|it| it.selector.clone()).collect();
        if spot.side == Side::Host && self.differs_on_devices(&selectors, &spot) {
            self.asks_for_side.insert(name);
        }
        match self.plan(&selectors, &spot) {
            Plan::Take(index) => {
                let taken = index.and_then(|it| alternatives.get(it));
                self.taken(taken, construct.span, governed, out);
            }
            plan @ Plan::If(..) => {
                let region = self.new_region(function, typed, construct.span);
                let is_outermost = self.statics.is_none();
                self.statics.get_or_insert_default();
                let mut body = self.branch(&plan, &alternatives, &spot, governed);
                if is_outermost
                    && let Some(Statics { mut declared, .. }) = self.statics.take()
                    && !declared.is_empty()
                {
                    declared.push(body);
                    body = self.stmt_of(StmtKind::Block(declared.into()), construct.span);
                }
                self.program.regions[region].body = Some(body);
                let end = self.end_of(governed);
                let stmt = self.stmt_of(StmtKind::Region(region), construct.span.to(end));
                out.push(stmt);
            }
        }
    }

    fn end_of(&self, governed: Governed<'t>) -> Span {
        match governed {
            Governed::Nothing => Span::NONE,
            Governed::One(body) => self.tree.stmts[body].span,
            Governed::Until(_, end) => end,
        }
    }

    /// The directives to choose from; the one for the rest fits everywhere and comes last.
    fn alternatives(
        &self,
        written: &Construct<Written>,
        typed: &Construct<Typed>,
    ) -> Vec<Alternative> {
        let (mut list, mut rest) = (Vec::new(), None);
        for (written, typed) in written.clauses.iter().zip(&typed.clauses) {
            match (&written.kind, &typed.kind) {
                (ClauseKind::When(_, from), ClauseKind::When(sets, directive)) => {
                    let selector = self.selector(sets);
                    list.push(alternative(selector, from.as_deref(), directive.as_deref()));
                }
                (
                    ClauseKind::Otherwise { directive: from, .. },
                    ClauseKind::Otherwise { directive, .. },
                ) => {
                    let selector = self.selector(&[]);
                    rest = Some(alternative(selector, from.as_deref(), directive.as_deref()));
                }
                _ => {}
            }
        }
        // Whatever has a selector is better than what has none, and the first of equals wins.
        list.extend(rest);
        list
    }

    /// The directive that was chosen, in the place of the one that chose.
    fn taken(
        &mut self,
        taken: Option<&Alternative>,
        span: Span,
        governed: Governed<'t>,
        out: &mut Vec<StmtId>,
    ) {
        let directive = taken.and_then(|it| Some((it.directive.as_ref()?, it.takes_body)));
        let Some((directive, takes_body)) = directive else {
            self.rewrite(span, Rewritten::Nothing);
            if let Governed::Until(_, end) = governed {
                self.rewrite(end, Rewritten::Nothing);
            }
            self.governed_into(governed, out);
            return;
        };
        let Some(function) = self.function.as_ref().map(|it| it.id) else { return };
        let region = self.new_region(function, directive.clone(), span);
        let is_list = matches!(governed, Governed::Until(list, _) if list.len() != 1);
        if let Governed::Until(_, end) = governed {
            let closes = takes_body && is_list;
            self.rewrite(end, if closes { Rewritten::Closing } else { Rewritten::Nothing });
        }
        if takes_body && is_list {
            self.rewrite(span, Rewritten::Opening(region));
        } else {
            self.rewrite(span, Rewritten::Directive(region));
        }
        if !takes_body {
            let stmt = self.stmt_of(StmtKind::Region(region), span);
            out.push(stmt);
            self.governed_into(governed, out);
            return;
        }
        self.regions.push(region);
        let body = self.governed_stmt(governed);
        self.regions.pop();
        self.program.regions[region].body = Some(body);
        let end = self.end_of(governed);
        let stmt = self.stmt_of(StmtKind::Region(region), span.to(end));
        out.push(stmt);
    }

    /// What a directive governs, as one statement.
    fn governed_stmt(&mut self, governed: Governed<'t>) -> StmtId {
        match governed {
            Governed::One(body) | Governed::Until(&[body], _) => self.inner(body),
            Governed::Until(list, end) => self.block(list, end),
            Governed::Nothing => self.stmt_of(StmtKind::Empty, Span::NONE),
        }
    }

    /// The same where no directive is left: declarations in it are those of the block around.
    fn governed_into(&mut self, governed: Governed<'t>, out: &mut Vec<StmtId>) {
        match governed {
            Governed::Nothing => {}
            Governed::One(body) => self.stmt_into(body, out),
            Governed::Until(list, _) => self.stmts_into(list, out),
        }
    }

    /// A test, and what is done then and else; the text is replaced as a whole.
    fn branch(
        &mut self,
        plan: &Plan,
        alternatives: &[Alternative],
        spot: &Spot,
        governed: Governed<'t>,
    ) -> StmtId {
        match plan {
            Plan::Take(index) => {
                let known = self.program.rewrites.len();
                let mut list = Vec::new();
                let taken = index.and_then(|it| alternatives.get(it));
                self.taken(taken, spot.span, governed, &mut list);
                self.program.rewrites.truncate(known);
                // A block, so that `else` is ours and declarations have a scope.
                self.stmt_of(StmtKind::Block(list.into()), spot.span)
            }
            Plan::If(test, then, other) => {
                let before = self.defined_labels();
                let then = self.branch(then, alternatives, spot, governed);
                // What is wrong with the body has been told; its labels are others.
                self.silent += 1;
                let (labels, first) = (self.set_labels_aside(&before), self.program.labels.len());
                let other = self.branch(other, alternatives, spot, governed);
                self.take_labels_back(labels, first);
                self.silent -= 1;
                self.stmt_of(StmtKind::If(*test, then, Some(other)), spot.span)
            }
        }
    }

    /// A metadirective outside of functions: the directive that it chooses there.
    pub(crate) fn chosen_declaration(
        &mut self,
        construct: &Construct<Written>,
    ) -> Option<Option<Construct<Written>>> {
        let (typed, _) = self.typed(construct);
        let alternatives = self.alternatives(construct, &typed);
        let selectors: Vec<Selector> = alternatives.iter().map(|it| it.selector.clone()).collect();
        let spot = Spot {
            constructs: Vec::new(),
            side: Side::Host,
            offloaded: None,
            span: construct.span,
        };
        let Plan::Take(index) = self.plan(&selectors, &spot) else { return None };
        let written = construct.clauses.iter().filter_map(|it| match &it.kind {
            ClauseKind::When(_, it) => Some((false, it)),
            ClauseKind::Otherwise { directive: it, .. } => Some((true, it)),
            _ => None,
        });
        // In the order of the alternatives: the one for the rest is last.
        let (rest, when): (Vec<_>, Vec<_>) = written.partition(|it| it.0);
        let chosen = index.and_then(|it| when.into_iter().chain(rest).nth(it));
        let chosen = chosen.and_then(|it| it.1.as_deref().cloned());
        let chosen = chosen.filter(|it| it.leaves != [Leaf::Nothing]);
        let fits = chosen.iter().all(|it| it.leaves.iter().all(|it| declares(*it)));
        fits.then_some(chosen)
    }

    /// A static variable of a body that is read several times; `make` is for the first time. Code of
    /// devices has its own.
    pub(crate) fn shared_static(
        &mut self,
        span: Span,
        make: impl FnOnce(&mut Self) -> (VarId, StmtId),
    ) -> Option<VarId> {
        let is_device = |it: &RegionId| self.program.regions[*it].construct.has(Leaf::Offload);
        if self.statics.is_none() || self.regions.iter().any(is_device) {
            return None;
        }
        if let Some(var) = self.statics.as_ref().and_then(|it| it.known.get(&span)) {
            return Some(*var);
        }
        let (var, stmt) = make(self);
        // Where it is declared now another variable may have its name.
        if let Some(name) = self.program.vars[var].name {
            let own = format!("{}__ferry_static{}", self.program.names.text(name), var.index());
            self.program.vars[var].name = Some(self.program.names.intern(&own));
        }
        if let Some(statics) = &mut self.statics {
            statics.known.insert(span, var);
            statics.declared.push(stmt);
        }
        Some(var)
    }

    pub(crate) fn rewrite(&mut self, span: Span, by: Rewritten) {
        self.program.rewrites.push(Rewrite { span, by });
    }
}

fn alternative(
    selector: Selector,
    written: Option<&Construct<Written>>,
    typed: Option<&Construct<Typed>>,
) -> Alternative {
    Alternative {
        selector,
        directive: typed.filter(|it| it.leaves != [Leaf::Nothing]).cloned(),
        takes_body: written.is_some_and(directive::takes_body),
    }
}
