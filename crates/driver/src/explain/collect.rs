//! From the typed program to records.

use std::path::Path;

use directive::directive_name;
use emit::{About, Note};
use ir::construct::{Args, Construct, Leaf, MemoryBy, Motion, Presence, ReductionOp};
use ir::program::{Declaration, FunctionId, Program, RegionId, Typed, VarId};
use ir::region::{
    Attribute, Loop, LoopTest, Mapping, Origin, Pointee, Region, RegionVar, Rule, Sharing,
};
use opt::dependence::Analysis;
use opt::extent::{Extent, Implied};
use opt::profile::Profile;
use source::{Diagnostic, Diagnostics, Files, Locator, SourceMap, Span};

use super::moves::Numbers;
use super::records::{
    AccessRecord, AttributeRecord, ConstructRecord, DeclarationRecord, DeviceRecord, FileRecord,
    FunctionRecord, LoopRecord, MemoryRecord, Place, PointeeRecord, RegionRecord, ScratchpadRecord,
    VariableRecord,
};
use crate::cc::foretold::Foretold;
use crate::cc::verdict;

/// The outcome of a file that is not compiled for a device.
pub(super) const REFUSED: &str = "refused";

/// What lowering a file has told.
pub(crate) struct Tried {
    /// Of arrays in the scratchpad, and of blocks on cores.
    pub(crate) notes: Vec<Note>,
    /// For each device that was asked about.
    pub(crate) devices: Vec<Foretold>,
}

/// Everything there is to tell of one file.
pub(crate) fn file(
    path: &Path,
    program: &Program,
    map: &SourceMap,
    files: &(dyn Files + Sync),
    profiles: &[Profile],
    marks: &opt::marks::Options,
    lowered: &Tried,
) -> FileRecord {
    // What locator and analysis have found out they keep to themselves: each thread has its own.
    let collect = || Collect {
        program,
        map,
        locator: Locator::new(map, files),
        profiles,
        marks,
        notes: &lowered.notes,
        devices: &lowered.devices,
        analysis: Analysis::new(program),
    };
    let mut order: Vec<RegionId> = program.regions.iter().map(|(id, _)| id).collect();
    order.sort_by_key(|&id| program.regions[id].span.start);
    let numbers: Numbers = order.iter().enumerate().map(|(number, &id)| (id, number)).collect();
    let regions = in_parallel(&order, |part| {
        let cx = collect();
        part.iter().map(|&id| cx.region(id, &numbers)).collect()
    });
    let cx = collect();
    let declarations = program.declarations.iter().map(|it| cx.declaration(it)).collect();
    let mut remarks = Diagnostics::new();
    let kept = cx.kept(&numbers, &mut remarks);
    FileRecord { file: path.display().to_string(), regions, declarations, kept, remarks }
}

/// Regions for which another thread is worth it.
const PART: usize = 32;

/// The records of all regions, in their order; each core tells of a part of them.
fn in_parallel(
    order: &[RegionId],
    tell: impl Fn(&[RegionId]) -> Vec<RegionRecord> + Sync,
) -> Vec<RegionRecord> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parts = order.chunks(order.len().div_ceil(cores).max(PART));
    let Some(first) = parts.next() else { return Vec::new() };
    let tell = &tell;
    std::thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| {
                let builder = std::thread::Builder::new().stack_size(crate::STACK);
                (part, builder.spawn_scoped(scope, move || tell(part)))
            })
            .collect();
        let mut records = tell(first);
        for (part, thread) in others {
            records.extend(match thread {
                Ok(thread) => {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                // No further thread is to be had.
                Err(_) => tell(part),
            });
        }
        records
    })
}

pub(super) struct Collect<'a> {
    pub(super) program: &'a Program,
    map: &'a SourceMap,
    pub(super) locator: Locator<'a>,
    pub(super) profiles: &'a [Profile],
    pub(super) marks: &'a opt::marks::Options,
    /// Of arrays in the scratchpad, and of blocks on cores.
    pub(super) notes: &'a [Note],
    /// What becomes of the text on devices.
    devices: &'a [Foretold],
    pub(super) analysis: Analysis<'a>,
}

impl Collect<'_> {
    fn region(&self, id: RegionId, numbers: &Numbers) -> RegionRecord {
        let region = &self.program.regions[id];
        let number = |id: RegionId| numbers.get(&id).copied();
        let mut remarks = Diagnostics::new();
        let tree = self.tree(id);
        let findings = tree.loops.iter().map(|it| self.finding(it, &mut remarks)).collect();
        let mapping = self.mapping(id, &tree);
        let moves = self.moves(id, numbers, &mut remarks);
        let implied = self.analysis.implied(id);
        RegionRecord {
            id: number(id).unwrap_or_default(),
            parent: region.parent.and_then(number),
            place: self.place(region.construct.span),
            function: self.function_name(region.function),
            directive: directive_name(&region.construct),
            written: self.written(region.construct.span),
            constructs: self.constructs(id),
            loops: region.loops.iter().map(|it| self.loop_record(it)).collect(),
            findings,
            mapping,
            devices: self.devices.iter().filter_map(|it| self.becomes(region, it)).collect(),
            scratchpad: self.scratchpad(region),
            moves,
            variables: region
                .vars
                .iter()
                .map(|it| {
                    let implied = implied.iter().find(|implied| implied.var == it.var);
                    self.variable(region, it, implied)
                })
                .collect(),
            reaches: region.reaches.iter().map(|&it| self.reached(it)).collect(),
            indirect_calls: region.indirect_calls.iter().map(|&it| self.place(it)).collect(),
            remarks,
        }
    }

    fn constructs(&self, id: RegionId) -> Vec<ConstructRecord> {
        let leaves = &self.program.regions[id].construct.leaves;
        let implied = self.program.implies_teams(id).then_some(ConstructRecord {
            name: "implied-teams",
            meaning: "gangs share the iterations: implied, as no loop around or inside names them",
        });
        leaves.iter().map(|&it| construct(it)).chain(implied).collect()
    }

    /// What becomes of a region on a device; the fault that is told stands in it, if one does.
    fn becomes(&self, region: &Region, told: &Foretold) -> Option<DeviceRecord> {
        let device = told.device.clone();
        let refused = |reason, code, at| DeviceRecord {
            device: device.clone(),
            outcome: REFUSED,
            reason,
            code,
            at,
            loops: Vec::new(),
            data: Vec::new(),
        };
        if let Some(why) = &told.why {
            return Some(refused(why.clone(), None, None));
        }
        let span = |it: &Diagnostic| it.primary.as_ref().map(|it| it.span);
        let body = |it: &FunctionId| self.program.functions[*it].body;
        let parts = region.body.into_iter().chain(region.reaches.iter().filter_map(body));
        let mut parts: Vec<Span> = parts.map(|it| self.program.stmts[it].span).collect();
        parts.push(region.construct.span);
        let is_in =
            |it: Span| parts.iter().any(|part| part.start <= it.start && it.end <= part.end);
        let own = told.faults.iter().find(|it| span(it).is_some_and(is_in));
        if let Some(fault) = own.or(told.faults.iter().next()) {
            let at = span(fault).map(|it| self.place(it));
            return Some(refused(fault.message.clone(), Some(fault.code), at));
        }
        let verdict = told.verdicts.iter().find(|it| it.span == region.construct.span)?;
        Some(DeviceRecord {
            device,
            outcome: verdict.outcome.name(),
            reason: verdict.outcome.reason().to_owned(),
            code: None,
            at: None,
            loops: verdict::told(&verdict.loops, &self.locator),
            data: verdict::told(&verdict.data, &self.locator),
        })
    }

    /// What is said of arrays in the scratchpad, for loops of a region that nothing is around.
    fn scratchpad(&self, region: &Region) -> Vec<ScratchpadRecord> {
        let is_own =
            |it: &&Note| it.about == About::Scratchpad && it.region == region.construct.span;
        let own = self.notes.iter().filter(is_own);
        let told = own.map(|it| ScratchpadRecord {
            line: self.place(it.span).line,
            message: it.text.clone(),
            at: it.at.map(|it| self.place(it)),
        });
        told.collect()
    }

    fn declaration(&self, declaration: &Declaration) -> DeclarationRecord {
        let functions = declaration.functions.iter().map(|&it| self.function_name(it));
        let variables = declaration.vars.iter().map(|&it| self.var_name(it));
        DeclarationRecord {
            place: self.place(declaration.construct.span),
            directive: directive_name(&declaration.construct),
            written: self.written(declaration.construct.span),
            functions: functions.collect(),
            variables: variables.collect(),
            memory: self.memory(declaration),
        }
    }

    /// In which memory a directive stores variables.
    fn memory(&self, declaration: &Declaration) -> Vec<MemoryRecord> {
        let Args::Memory(parts) = &declaration.construct.args else { return Vec::new() };
        let mut records = Vec::new();
        for part in parts {
            let kind = part.space.map_or("fastmem", |it| self.program.names.text(it));
            let lies = match kind {
                "fastmem" => "the memory of highest bandwidth; other memory where it is full",
                "volatile" => "ordinary memory",
                "persistent" => "ordinary memory, with a file that outlives the program",
                _ => {
                    "the memory that a user defines by this name; ordinary memory where nobody does"
                }
            };
            let instances = match part.by {
                Some(MemoryBy::Reference) => "each thread has an object that it points to at first",
                Some(MemoryBy::Value) | None => "each thread has its own, with the first value",
            };
            let until = match kind {
                "persistent" => "for each number of a thread, in this run and later ones",
                _ => "from its first use to the end of the thread",
            };
            records.extend(part.items.iter().map(|it| MemoryRecord {
                variable: self.expr(*it),
                kind: kind.to_owned(),
                instances: format!("{instances}, {until}"),
                lies: lies.to_owned(),
            }));
        }
        records
    }

    fn loop_record(&self, it: &Loop) -> LoopRecord {
        let step = it.step.map_or_else(|| "1".to_owned(), |step| self.expr(step));
        LoopRecord {
            place: self.place(it.span),
            variable: self.var_name(it.var),
            begin: self.expr(it.begin),
            test: match it.test {
                LoopTest::Lt => "<",
                LoopTest::Le => "<=",
                LoopTest::Gt => ">",
                LoopTest::Ge => ">=",
                LoopTest::Ne => "!=",
            },
            bound: self.expr(it.bound),
            step: signed(&step, it.descending),
            trips: it.trips,
            rectangular: it.rectangular,
        }
    }

    fn variable(
        &self,
        region: &Region,
        it: &RegionVar,
        implied: Option<&Implied>,
    ) -> VariableRecord {
        let var = &self.program.vars[it.var];
        let types = &self.program.types;
        VariableRecord {
            name: self.var_name(it.var),
            ty: types.spell(&self.program.names, var.ty),
            bytes: self.program.model.size_of(types, var.ty).ok(),
            read: it.read,
            written: it.written,
            pointee: (it.pointee != Pointee::UNTOUCHED).then_some(PointeeRecord {
                read: it.pointee.read,
                written: it.pointee.written,
                escapes: it.pointee.escapes,
            }),
            sharing: it.sharing.as_ref().map(|it| self.attribute(region, it, |it| self.shared(it))),
            mappings: match implied {
                Some(implied) => vec![self.implied(implied)],
                None => it
                    .mappings
                    .iter()
                    .map(|it| self.attribute(region, it, |it| self.mapped(it)))
                    .collect(),
            },
        }
    }

    /// Data behind a pointer that no clause names.
    fn implied(&self, it: &Implied) -> AttributeRecord {
        match &it.extent {
            Extent::Known(parts) => {
                let parts: Vec<String> = parts.iter().map(|it| it.text(self.program)).collect();
                let part = format!(" ({}[{}])", self.var_name(it.var), parts.join(", "));
                AttributeRecord {
                    attribute: map_words(it.motion, it.presence, &part),
                    origin: "rule",
                    because: Rule::Touched.text().to_owned(),
                    at: None,
                }
            }
            Extent::Unknown(at) => AttributeRecord {
                attribute: self.mapped(&Mapping::PointerToMapped),
                origin: "rule",
                because: "no clause names it, and how much of it this access reaches is not known"
                    .to_owned(),
                at: Some(self.place(*at)),
            },
        }
    }

    fn attribute<A>(
        &self,
        region: &Region,
        attribute: &Attribute<A>,
        words: impl Fn(&A) -> String,
    ) -> AttributeRecord {
        let (origin, because, at) = match attribute.origin {
            Origin::Clause(index) => {
                let (text, place) = self.clause(&region.construct, index);
                ("clause", text, place)
            }
            Origin::Enclosing(outer, index) => {
                let (text, place) = self.clause(&self.program.regions[outer].construct, index);
                ("enclosing", text, place)
            }
            Origin::Declared(index) => {
                let declaration = self.program.declarations.get(index as usize);
                let span = declaration.map_or(Span::NONE, |it| it.construct.span);
                ("declaration", self.written(span), Some(self.place(span)))
            }
            Origin::Rule(rule) => ("rule", rule.text().to_owned(), None),
        };
        AttributeRecord { attribute: words(&attribute.value), origin, because, at }
    }

    pub(super) fn clause(
        &self,
        construct: &Construct<Typed>,
        index: u32,
    ) -> (String, Option<Place>) {
        match construct.clauses.get(index as usize) {
            Some(clause) => (self.written(clause.span), Some(self.place(clause.span))),
            None => (String::new(), None),
        }
    }

    fn shared(&self, sharing: &Sharing) -> String {
        match sharing {
            Sharing::Shared => "shared".to_owned(),
            Sharing::Private => "private".to_owned(),
            Sharing::FirstPrivate => "firstprivate".to_owned(),
            Sharing::LastPrivate => "lastprivate".to_owned(),
            Sharing::FirstLastPrivate => "firstprivate and lastprivate".to_owned(),
            Sharing::Reduction(op) => format!("reduction {}", self.operator(op)),
            Sharing::Linear => "linear".to_owned(),
            Sharing::ThreadPrivate => "one per thread".to_owned(),
        }
    }

    pub(super) fn operator(&self, op: &ReductionOp<Typed>) -> String {
        let text = match op {
            ReductionOp::Add => "+",
            ReductionOp::Sub => "-",
            ReductionOp::Mul => "*",
            ReductionOp::BitAnd => "&",
            ReductionOp::BitOr => "|",
            ReductionOp::BitXor => "^",
            ReductionOp::And => "&&",
            ReductionOp::Or => "||",
            ReductionOp::Min => "min",
            ReductionOp::Max => "max",
            ReductionOp::User(name) => self.program.names.text(*name),
        };
        text.to_owned()
    }

    fn mapped(&self, mapping: &Mapping) -> String {
        match mapping {
            Mapping::Map(motion, presence, part) => {
                let part = part.map_or_else(String::new, |it| format!(" ({})", self.expr(it)));
                map_words(*motion, *presence, &part)
            }
            Mapping::FirstPrivate => "firstprivate".to_owned(),
            Mapping::Private => "private".to_owned(),
            Mapping::DevicePointer => "holds a device address".to_owned(),
            Mapping::DeviceAddress => "is at a device address".to_owned(),
            Mapping::PointerToMapped => "points to its mapped data, if any".to_owned(),
            Mapping::Declared => "has its own storage on the device".to_owned(),
        }
    }

    fn reached(&self, id: FunctionId) -> FunctionRecord {
        let defined = self.program.functions[id].body.is_some();
        FunctionRecord { name: self.function_name(id), defined }
    }

    fn function_name(&self, id: FunctionId) -> String {
        self.program.names.text(self.program.functions[id].name).to_owned()
    }

    pub(super) fn var_name(&self, id: VarId) -> String {
        let name = self.program.vars[id].name;
        name.map_or("(unnamed)", |it| self.program.names.text(it)).to_owned()
    }

    pub(super) fn expr(&self, id: ir::program::ExprId) -> String {
        self.written(self.program.exprs[id].span)
    }

    /// The text of a span, on one line.
    pub(super) fn written(&self, span: Span) -> String {
        let text = self.map.slice(span);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn stmt_span(&self, id: ir::program::StmtId) -> Span {
        self.program.stmts[id].span
    }

    /// A piece of the source.
    pub(super) fn access(&self, span: Span) -> AccessRecord {
        AccessRecord { place: self.place(span), text: self.written(span) }
    }

    pub(super) fn place(&self, span: Span) -> Place {
        match self.locator.locate(span) {
            Some(it) => Place { file: it.file.to_string(), line: it.line, column: it.column },
            None => Place { file: String::new(), line: 0, column: 0 },
        }
    }
}

/// `map to the device (a[0:n]), must be present`
fn map_words(motion: Motion, presence: Presence, part: &str) -> String {
    let motion = match motion {
        Motion::Unsaid | Motion::ToFrom => "map both ways",
        Motion::Alloc => "map without copies",
        Motion::To => "map to the device",
        Motion::From => "map from the device",
        Motion::Release => "release",
        Motion::Delete => "delete",
    };
    let presence = match presence {
        Presence::Any => "",
        Presence::Required => ", must be present",
        Presence::Optional => ", only if present",
    };
    format!("{motion}{part}{presence}")
}

fn construct(leaf: Leaf) -> ConstructRecord {
    ConstructRecord { name: leaf.name(), meaning: leaf.meaning() }
}

/// A step with one sign: taking away minus three is adding three.
fn signed(step: &str, is_taken_away: bool) -> String {
    let (size, is_negative) = match step.strip_prefix('-') {
        Some(size) => (size.trim_start(), !is_taken_away),
        None => (step, is_taken_away),
    };
    format!("{}{size}", if is_negative { '-' } else { '+' })
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn a_step_has_one_sign() {
        assert_eq!(signed("3", false), "+3");
        assert_eq!(signed("3", true), "-3");
        assert_eq!(signed("-3", false), "-3");
        assert_eq!(signed("- n", true), "+n");
    }
}
