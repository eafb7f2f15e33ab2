//! The explanation as findings: one informational result a region, its loops as related places; then what
//! stood in the way of its loops and what of its copies makes no difference.

use ir::program::Program;
use source::{Diagnostic, Diagnostics};

use super::records::FileRecord;

/// One remark per region, and those about its loops and data.
pub(crate) fn results(program: &Program, file: &FileRecord) -> Diagnostics {
    let mut order: Vec<_> = program.regions.iter().map(|(_, region)| region).collect();
    order.sort_by_key(|it| it.span.start);
    let mut found = Diagnostics::new();
    for (region, record) in order.into_iter().zip(&file.regions) {
        let message = format!("`{}` in `{}`", record.directive, record.function);
        let mut remark = Diagnostic::info("F0900", message).at(region.span, "");
        for (it, told) in region.loops.iter().zip(&record.loops) {
            remark = remark.label(it.span, format!("loop over `{}`", told.variable));
        }
        for finding in &record.findings {
            let name = finding.variable.as_deref().unwrap_or("?");
            remark = remark.note(format!("loop over `{name}`: {}", finding.message));
        }
        for variable in &record.variables {
            for attribute in variable.mappings.iter().chain(&variable.sharing) {
                let (name, what) = (&variable.name, &attribute.attribute);
                remark = remark.note(format!("`{name}`: {what} ({})", attribute.because));
            }
        }
        found.push(remark);
        record.remarks.iter().for_each(|it| found.push(it.clone()));
    }
    file.remarks.iter().for_each(|it| found.push(it.clone()));
    found
}
