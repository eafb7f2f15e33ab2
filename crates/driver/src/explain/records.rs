//! What is told of a file, as plain data. The field names are the JSON report's; they are stable.

use serde::Serialize;
use source::Diagnostics;

/// One file.
#[derive(Debug, Serialize)]
pub(crate) struct FileRecord {
    /// As named on the command line.
    pub(crate) file: String,
    /// Executable directives, in the order of the text.
    pub(crate) regions: Vec<RegionRecord>,
    /// Directives that declare.
    pub(crate) declarations: Vec<DeclarationRecord>,
    /// Data that could stay on the device from one region to the next.
    pub(crate) kept: Vec<KeptRecord>,
    /// The same, to be shown with the source.
    #[serde(skip)]
    pub(crate) remarks: Diagnostics,
}

impl FileRecord {
    /// The record as one line of JSON.
    pub(crate) fn to_json(&self) -> String {
        // Strings and numbers under string keys: serialising them cannot fail.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// A place in a written file, counted from 1.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// One executable directive with its body.
#[derive(Debug, Serialize)]
pub(crate) struct RegionRecord {
    /// Number within the file, from 0.
    pub(crate) id: usize,
    /// The region around it.
    pub(crate) parent: Option<usize>,
    #[serde(flatten)]
    pub(crate) place: Place,
    /// The function it stands in.
    pub(crate) function: String,
    /// The directive's name as the standard spells it.
    pub(crate) directive: String,
    /// The directive as written, on one line.
    pub(crate) written: String,
    /// What it is made of, from the outside in.
    pub(crate) constructs: Vec<ConstructRecord>,
    /// Loops it applies to, outermost first.
    pub(crate) loops: Vec<LoopRecord>,
    /// What was found of all loops in the body, unless a region around tells of them.
    pub(crate) findings: Vec<FindingRecord>,
    /// Who would run these loops on each device that was asked about, and why.
    pub(crate) mapping: Vec<MappingRecord>,
    /// What becomes of it on each device that was asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) devices: Vec<DeviceRecord>,
    /// What a cluster brings into its scratchpad, if that is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scratchpad: Vec<ScratchpadRecord>,
    /// What moves between host and device.
    pub(crate) moves: Vec<MoveRecord>,
    /// Variables from outside.
    pub(crate) variables: Vec<VariableRecord>,
    /// Functions that may run as part of it.
    pub(crate) reaches: Vec<FunctionRecord>,
    /// Calls through pointers: more functions may run than are listed.
    pub(crate) indirect_calls: Vec<Place>,
    /// What stood in the way and what could be better, to be shown with the source.
    #[serde(skip)]
    pub(crate) remarks: Diagnostics,
}

/// What becomes of a region on a device.
#[derive(Debug, Serialize)]
pub(crate) struct DeviceRecord {
    pub(crate) device: String,
    /// As `ferry cc --ferry-report` says it; `refused` if the file is not compiled for it.
    pub(crate) outcome: &'static str,
    /// Why it is that.
    pub(crate) reason: String,
    /// The code of what is refused, if it has one.
    pub(crate) code: Option<&'static str>,
    /// Where that stands.
    pub(crate) at: Option<Place>,
    /// Who runs its loops, where the compiler chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) loops: Vec<String>,
    /// What is mapped of the data behind pointers that no clause names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<String>,
}

/// One part of a directive.
#[derive(Debug, Serialize)]
pub(crate) struct ConstructRecord {
    /// Its neutral name.
    pub(crate) name: &'static str,
    /// What it does, in words.
    pub(crate) meaning: &'static str,
}

/// One loop.
#[derive(Debug, Serialize)]
pub(crate) struct LoopRecord {
    #[serde(flatten)]
    pub(crate) place: Place,
    pub(crate) variable: String,
    pub(crate) begin: String,
    /// `<`, `<=`, `>`, `>=` or `!=`
    pub(crate) test: &'static str,
    pub(crate) bound: String,
    /// With its sign.
    pub(crate) step: String,
    /// How often it runs, if that is a constant.
    pub(crate) trips: Option<u64>,
    /// Whether its bounds are free of outer loop variables.
    pub(crate) rectangular: bool,
}

/// What was found of one loop.
#[derive(Debug, Serialize)]
pub(crate) struct FindingRecord {
    #[serde(flatten)]
    pub(crate) place: Place,
    /// What counts; absent if the loop does not just count.
    pub(crate) variable: Option<String>,
    /// How many loops that are told of here stand around it.
    pub(crate) depth: usize,
    /// `parallel`, `carried` or `unknown`
    pub(crate) verdict: &'static str,
    /// The verdict in words.
    pub(crate) message: String,
    /// Whether it may run in parallel, and who says so: `proven`, `if` (if the objects in `disjoint` are, or `conditions` hold),
    /// `user`, `ordered` (the user wants it in order) or `no`.
    pub(crate) parallel: &'static str,
    /// The user's word that this rests on.
    pub(crate) assumed: Vec<String>,
    /// How often it runs, as a formula over variables at the entry, if it can be told.
    pub(crate) trips: Option<String>,
    /// Each iteration must have its own.
    pub(crate) private: Vec<String>,
    /// Those of them whose last value is used.
    pub(crate) last_private: Vec<String>,
    /// What iterations combine.
    pub(crate) reductions: Vec<ReductionRecord>,
    /// What the proof rests on besides subscripts.
    pub(crate) facts: Vec<String>,
    /// `flow`, `anti` or `output`, if carried; a word for the reason, if unknown.
    pub(crate) reason: Option<&'static str>,
    /// How many iterations are between the accesses, if that is constant.
    pub(crate) distance: Option<u64>,
    /// Names of objects: if no two of a pair overlap when the loop starts, it is parallel all the
    /// same.
    pub(crate) disjoint: Vec<(String, String)>,
    /// What must hold besides for the loop to be independent after all: `n >= m, -n >= m, or n == 0`.
    pub(crate) conditions: Vec<String>,
    /// What stood in the way: the earlier access first.
    pub(crate) accesses: Vec<AccessRecord>,
}

/// A reduction that was found.
#[derive(Debug, Serialize)]
pub(crate) struct ReductionRecord {
    pub(crate) operator: String,
    pub(crate) variable: String,
}

/// A piece of the source that stood in the way.
#[derive(Debug, Serialize)]
pub(crate) struct AccessRecord {
    #[serde(flatten)]
    pub(crate) place: Place,
    /// As written.
    pub(crate) text: String,
}

/// One variable.
#[derive(Debug, Serialize)]
pub(crate) struct VariableRecord {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// Size in bytes, if it is a constant.
    pub(crate) bytes: Option<u64>,
    pub(crate) read: bool,
    pub(crate) written: bool,
    /// What is done with data that it leads to, if anything.
    pub(crate) pointee: Option<PointeeRecord>,
    /// How it is shared.
    pub(crate) sharing: Option<AttributeRecord>,
    /// How it comes to the device, one for each item that names it or a part of it.
    pub(crate) mappings: Vec<AttributeRecord>,
}

/// What is done with data that is reached through a pointer.
#[derive(Debug, Serialize)]
pub(crate) struct PointeeRecord {
    pub(crate) read: bool,
    pub(crate) written: bool,
    /// The pointer goes where its use cannot be seen.
    pub(crate) escapes: bool,
}

/// An attribute and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct AttributeRecord {
    /// In neutral words: `private`, `map to`, …
    pub(crate) attribute: String,
    /// `clause`, `enclosing`, `declaration` or `rule`.
    pub(crate) origin: &'static str,
    /// The clause as written, or the rule in words.
    pub(crate) because: String,
    /// Where that clause stands.
    pub(crate) at: Option<Place>,
}

/// Who runs the loops of a nest on a device.
#[derive(Debug, Serialize)]
pub(crate) struct MappingRecord {
    /// The device.
    pub(crate) profile: String,
    /// Where the nest begins.
    pub(crate) line: u32,
    /// `teams and threads on i, lanes on j`
    pub(crate) shape: String,
    /// In words, with what it costs.
    pub(crate) why: String,
}

/// Arrays that a loop brings into the scratchpad, or that stay outside.
#[derive(Debug, Serialize)]
pub(crate) struct ScratchpadRecord {
    /// Where the loop begins.
    pub(crate) line: u32,
    /// Which, and how or why not.
    pub(crate) message: String,
    /// What stands in the way.
    pub(crate) at: Option<Place>,
}

/// Something that is copied, or just lives on the device.
#[derive(Debug, Serialize)]
pub(crate) struct MoveRecord {
    /// The variable.
    pub(crate) name: String,
    /// What of it, as a clause would say: `a[0:n]`.
    pub(crate) item: String,
    /// `to`, `from`, `tofrom`, `alloc`, `release` or `delete`.
    pub(crate) motion: &'static str,
    /// It is one number.
    pub(crate) scalar: bool,
    /// How many bytes each copy has, if that is a constant.
    pub(crate) bytes: Option<u64>,
    /// The same as a formula over variables at the entry.
    pub(crate) size: Option<String>,
    /// `clause`, `enclosing`, `declaration`, `rule` or `inferred`.
    pub(crate) origin: &'static str,
    /// The clause as written, or the rule in words.
    pub(crate) because: String,
    /// Where that clause stands.
    pub(crate) at: Option<Place>,
    /// The region around that holds it on the device already: nothing is copied.
    pub(crate) held_by: Option<usize>,
    /// Why copies of it make no difference.
    pub(crate) redundant: Vec<RedundantRecord>,
    /// The clause that does without them.
    pub(crate) advice: Option<String>,
}

/// A copy that makes no difference.
#[derive(Debug, Serialize)]
pub(crate) struct RedundantRecord {
    /// `not-written`, `not-needed`, `not-used`, `overwritten` or `lost`.
    pub(crate) reason: &'static str,
    /// In words.
    pub(crate) message: &'static str,
}

/// Data that could stay on the device from one region to the next.
#[derive(Debug, Serialize)]
pub(crate) struct KeptRecord {
    /// What, as a clause would say.
    pub(crate) item: String,
    /// The regions that copy it.
    pub(crate) regions: Vec<usize>,
    /// Where the statements begin that a data region would stand around.
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Their last line.
    pub(crate) last_line: u32,
    /// They are one loop.
    pub(crate) is_loop: bool,
    /// In words.
    pub(crate) message: String,
    /// The directive that would keep it there.
    pub(crate) advice: Option<String>,
    /// What must be so for it to do the same.
    pub(crate) provided: Option<String>,
}

/// A function that may run.
#[derive(Debug, Serialize)]
pub(crate) struct FunctionRecord {
    pub(crate) name: String,
    /// Its body is in this file.
    pub(crate) defined: bool,
}

/// A directive that declares.
#[derive(Debug, Serialize)]
pub(crate) struct DeclarationRecord {
    #[serde(flatten)]
    pub(crate) place: Place,
    /// The directive's name as the standard spells it.
    pub(crate) directive: String,
    /// The directive as written, on one line.
    pub(crate) written: String,
    /// What it is about.
    pub(crate) functions: Vec<String>,
    pub(crate) variables: Vec<String>,
    /// In which memory the variables are stored, where the directive says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) memory: Vec<MemoryRecord>,
}

/// The memory of a variable.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryRecord {
    pub(crate) variable: String,
    /// The kind, as written.
    pub(crate) kind: String,
    /// Who has one, and for how long.
    pub(crate) instances: String,
    /// Where it will lie.
    pub(crate) lies: String,
}
