//! What is told of a file, as plain data. The field names are the JSON report's; they are stable.

use serde::Serialize;

/// One file.
#[derive(Debug, Serialize)]
pub(crate) struct FileRecord {
    /// As named on the command line.
    pub(crate) file: String,
    /// Executable directives, in the order of the text.
    pub(crate) regions: Vec<RegionRecord>,
    /// Directives that declare.
    pub(crate) declarations: Vec<DeclarationRecord>,
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
    /// What was found of loops: all those in the body if the compiler is to find the parallelism,
    /// else those it applies to.
    pub(crate) findings: Vec<FindingRecord>,
    /// Variables from outside.
    pub(crate) variables: Vec<VariableRecord>,
    /// Functions that may run as part of it.
    pub(crate) reaches: Vec<FunctionRecord>,
    /// Calls through pointers: more functions may run than are listed.
    pub(crate) indirect_calls: Vec<Place>,
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
}
