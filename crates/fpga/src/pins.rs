//! What directives ask of the design of a region: `#pragma openarc opencl num_simd_work_items(4) num_compute_units(2)` before it.
//!
//! In: a program as it was read. Out: lanes and units of regions; what of that cannot be done is told (F0739).

use ir::construct::{ClauseKind, Leaf};
use ir::program::Program;
use kernel::count::constant;
use opt::passes::Fabric;
use source::{Diagnostic, Span};

use crate::search::MOST;

/// What is asked of one region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Iterations of innermost loops that run side by side, and where that is asked for.
    pub lanes: Option<(u64, Span)>,
    /// Rows of nests that do.
    pub units: Option<(u64, Span)>,
}

impl Pins {
    /// What is asked of the region whose directive stands at `region`, and what is said of numbers that are none.
    pub fn of(program: &Program, region: Span) -> (Pins, Vec<Diagnostic>) {
        let (mut pins, mut said) = (Pins::default(), Vec::new());
        for (_, advice) in program.regions.iter().filter(|it| it.1.construct.has(Leaf::Resources)) {
            let inside = advice.body.map(|it| ir::walk::regions_in(program, it));
            let is_it = |span: Span| span == region;
            if !inside
                .is_some_and(|it| it.iter().any(|it| is_it(program.regions[*it].construct.span)))
            {
                continue;
            }
            for clause in &advice.construct.clauses {
                let ClauseKind::Extension(name, args) = &clause.kind else { continue };
                let name = program.names.text(*name);
                let count = args.as_ref().and_then(|it| constant(program, *it.first()?));
                let count = count
                    .and_then(|it| u64::try_from(it).ok())
                    .filter(|it| (1..=MOST).contains(it));
                let Some(count) = count else {
                    said.push(
                        no_effect(name, clause.span)
                            .help(format!("say how many, as a constant from 1 to {MOST}")),
                    );
                    continue;
                };
                match name {
                    "num_simd_work_items" => pins.lanes = Some((count, clause.span)),
                    _ => pins.units = Some((count, clause.span)),
                }
            }
        }
        if let (Some((lanes, _)), Some((units, span))) = (pins.lanes, pins.units)
            && lanes * units > MOST
        {
            let help = format!("an iteration has at most {MOST} copies in all");
            said.push(no_effect("num_compute_units", span).help(help));
            pins.units = None;
        }
        (pins, said)
    }

    /// The fabric with what is asked for.
    pub fn on(self, fabric: Fabric) -> Fabric {
        let lanes = self.lanes.map_or(fabric.lanes, |it| it.0);
        Fabric { lanes, units: self.units.map_or(fabric.units, |it| it.0), ..fabric }
    }

    /// What was asked for and is not there after the passes, by what they have noted.
    pub fn missing(self, notes: &[String]) -> Vec<Diagnostic> {
        let asked = [
            (
                self.lanes,
                "num_simd_work_items",
                "loops run side by side whose iterations are independent and combine nothing",
            ),
            (
                self.units,
                "num_compute_units",
                "units are rows of a nest of two loops whose iterations are independent and combine nothing",
            ),
        ];
        let mut notes: Vec<&String> = notes.iter().collect();
        let mut said = Vec::new();
        for ((count, span), name, help) in
            asked.into_iter().filter_map(|it| Some((it.0?, it.1, it.2)))
        {
            let words = format!("{count} iterations of ");
            match notes.iter().position(|it| it.starts_with(&words)) {
                Some(at) => drop(notes.remove(at)),
                None if count == 1 => {}
                None => said.push(no_effect(name, span).help(help)),
            }
        }
        said
    }
}

fn no_effect(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0739", format!("`{name}` has no effect on this region"))
        .at(span, "advice that it does not allow")
}
