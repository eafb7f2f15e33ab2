//! Directives: regions with their loops and variables, and declarations.

use std::fmt::Write as _;

use super::{Printer, neutral};
use crate::construct::{Construct, Convert, Rules, Spelled};
use crate::program::{ExprId, InitId, RegionId, Typed};
use crate::region::{Loop, LoopTest, Mapping, Origin, Pointee, RegionVar, Sharing};
use crate::types::Ty;

/// Carries the parts of a construct into text.
struct Speller<'a, 'p>(&'a Printer<'p>);

impl Convert<Typed, Spelled> for Speller<'_, '_> {
    fn expr(&mut self, expr: &ExprId) -> String {
        self.0.expr(*expr)
    }

    fn ty(&mut self, ty: &Ty) -> String {
        self.0.ty(*ty)
    }

    fn init(&mut self, init: &InitId) -> String {
        self.0.init(*init)
    }

    fn name(&mut self, name: &source::Name) -> String {
        self.0.text(*name).to_owned()
    }
}

impl Printer<'_> {
    /// ```text
    /// region offload teams
    ///   clause map motion=to items=[a[0 : n]]
    ///   a: mapped to by clause 0, shared by rule shared-default, read
    ///   {
    /// ```
    pub(super) fn region(&mut self, id: RegionId) {
        let program = self.program;
        let Some(region) = program.regions.find(id) else { return self.line("<no region>") };
        self.construct("region", &region.construct);
        self.indented(|it| {
            region.loops.iter().for_each(|one| it.associated_loop(one));
            region.vars.iter().for_each(|var| it.region_var(var));
            if !region.reaches.is_empty() {
                let reached: Vec<String> =
                    region.reaches.iter().map(|id| it.function(*id)).collect();
                it.line(&format!("reaches {}", reached.join(", ")));
            }
            if !region.indirect_calls.is_empty() {
                it.line(&format!("calls {} through pointers", region.indirect_calls.len()));
            }
            if let Some(body) = region.body {
                it.stmt(body);
            }
        });
    }

    pub(super) fn declaration(&mut self, index: u32) {
        let program = self.program;
        let Some(declaration) = program.declarations.get(index as usize) else {
            return self.line("<no declaration>");
        };
        self.construct("declaration", &declaration.construct);
        self.indented(|it| {
            let mut about: Vec<String> =
                declaration.functions.iter().map(|id| it.function(*id)).collect();
            about.extend(declaration.vars.iter().map(|id| it.var(*id).to_owned()));
            if !about.is_empty() {
                it.line(&format!("about {}", about.join(", ")));
            }
        });
    }

    fn construct(&mut self, word: &str, construct: &Construct<Typed>) {
        let spelled: Construct<Spelled> = construct.convert(&mut Speller(self));
        let leaves: Vec<String> = spelled.leaves.iter().map(neutral::of).collect();
        let mut head = format!("{word} {}", leaves.join(" "));
        if spelled.args != crate::construct::Args::None {
            let _ = write!(head, " {}", neutral::of(&spelled.args));
        }
        self.line(&head);
        self.indented(|it| {
            for clause in &spelled.clauses {
                let mut line = format!("clause {}", neutral::of(&clause.kind));
                if let Some(switch) = &clause.switch {
                    let _ = write!(line, " if {switch}");
                }
                if let Some(on) = clause.on {
                    let _ = write!(line, " on {}", neutral::of(&on));
                }
                if let Some(group) = clause.group {
                    let types = spelled.groups.get(usize::from(group)).map(|it| &it.types);
                    let types = types.map(|it| it.join(", ")).unwrap_or_default();
                    let _ = write!(line, " for {}", if types.is_empty() { "*" } else { &types });
                }
                it.line(&line);
            }
            if spelled.rules != Rules::NONE {
                it.line(&neutral::of(&spelled.rules));
            }
        });
    }

    /// `loop i from 0 while < n step 2 trips 5`
    fn associated_loop(&mut self, it: &Loop) {
        let test = match it.test {
            LoopTest::Lt => "<",
            LoopTest::Le => "<=",
            LoopTest::Gt => ">",
            LoopTest::Ge => ">=",
            LoopTest::Ne => "!=",
        };
        let (begin, bound) = (self.expr(it.begin), self.expr(it.bound));
        let mut text = format!("loop {} from {begin} while {test} {bound}", self.var(it.var));
        let sign = if it.descending { "-" } else { "" };
        match it.step {
            Some(step) => {
                let _ = write!(text, " step {sign}{}", self.expr(step));
            }
            None if it.descending => text.push_str(" step -1"),
            None => {}
        }
        if let Some(trips) = it.trips {
            let _ = write!(text, " trips {trips}");
        }
        self.line(&text);
    }

    /// `a: mapped to by clause 0, shared by rule shared-default, read, written`
    fn region_var(&mut self, it: &RegionVar) {
        let mut facts = Vec::new();
        for mapping in &it.mappings {
            let what = match &mapping.value {
                Mapping::Map(motion, presence, item) => {
                    let (motion, presence) = (neutral::of(motion), neutral::of(presence));
                    let item = item.map(|it| format!(" {}", self.expr(it))).unwrap_or_default();
                    format!("mapped {motion} {presence}{item}")
                }
                Mapping::FirstPrivate
                | Mapping::Private
                | Mapping::DevicePointer
                | Mapping::DeviceAddress
                | Mapping::PointerToMapped
                | Mapping::Declared => format!("on device {}", neutral::of(&mapping.value)),
            };
            facts.push(format!("{what} {}", origin(mapping.origin)));
        }
        if let Some(sharing) = &it.sharing {
            let what = match &sharing.value {
                Sharing::Reduction(crate::construct::ReductionOp::User(name)) => {
                    format!("reduction {}", self.text(*name))
                }
                Sharing::Shared
                | Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Reduction(_)
                | Sharing::Linear
                | Sharing::ThreadPrivate => neutral::of(&sharing.value),
            };
            facts.push(format!("{what} {}", origin(sharing.origin)));
        }
        if it.read {
            facts.push("read".to_owned());
        }
        if it.written {
            facts.push("written".to_owned());
        }
        let Pointee { read, written, escapes } = it.pointee;
        let pointee = [(read, "read"), (written, "written"), (escapes, "escapes")];
        let pointee: Vec<&str> = pointee.iter().filter(|it| it.0).map(|it| it.1).collect();
        if !pointee.is_empty() {
            facts.push(format!("pointee {}", pointee.join(" and ")));
        }
        self.line(&format!("{}: {}", self.var(it.var), facts.join(", ")));
    }
}

fn origin(origin: Origin) -> String {
    match origin {
        Origin::Clause(at) => format!("by clause {at}"),
        Origin::Enclosing(region, at) => format!("by clause {at} of region {}", region.index()),
        Origin::Declared(at) => format!("by declaration {at}"),
        Origin::Rule(rule) => format!("by rule {}", neutral::of(&rule)),
    }
}
