//! What moves between host and device, in words, and what to write where a copy makes no difference.

use directive::{data_region, map_clause};
use ir::construct::Motion;
use ir::program::RegionId;
use ir::region::{Origin, Region};
use opt::dependence::Sum;
use opt::transfer::{Kept, Transfer};
use rustc_hash::FxHashMap;
use source::{Diagnostic, Diagnostics, Span};

use super::collect::Collect;
use super::records::{KeptRecord, MoveRecord, RedundantRecord};

/// Numbers of regions, as reports give them.
pub(super) type Numbers = FxHashMap<RegionId, usize>;

impl Collect<'_> {
    /// What a region moves.
    pub(super) fn moves(
        &self,
        id: RegionId,
        numbers: &Numbers,
        remarks: &mut Diagnostics,
    ) -> Vec<MoveRecord> {
        let region = &self.program.regions[id];
        let transfers = self.analysis.transfers(id);
        transfers
            .iter()
            .map(|it| {
                let record = self.moved(region, it, numbers);
                if !it.waste.is_empty() {
                    remarks.push(self.wasted(region, it, &record));
                }
                record
            })
            .collect()
    }

    fn moved(&self, region: &Region, it: &Transfer, numbers: &Numbers) -> MoveRecord {
        let construct = &region.construct;
        let item = self.item(it);
        let (origin, because, at) = match it.origin {
            Origin::Rule(rule) if !it.inferred.is_empty() => {
                ("inferred", rule.text().to_owned(), None)
            }
            Origin::Rule(rule) => ("rule", rule.text().to_owned(), None),
            Origin::Clause(index) => {
                let (text, place) = self.clause(construct, index);
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
        };
        let redundant = it
            .waste
            .iter()
            .map(|it| RedundantRecord { reason: it.word(), message: it.text() })
            .collect();
        let advice = (!it.waste.is_empty())
            .then(|| map_clause(&construct.leaves, it.enough, &item, construct.dialect))
            .flatten();
        MoveRecord {
            name: self.var_name(it.var),
            motion: motion(it.motion),
            scalar: it.item.is_none()
                && self.program.types.is_scalar(self.program.vars[it.var].ty)
                && it.inferred.is_empty(),
            bytes: it.bytes.as_ref().and_then(constant),
            size: it.bytes.as_ref().map(|it| it.text(self.program)),
            origin,
            because,
            at,
            held_by: it.held_by.and_then(|it| numbers.get(&it).copied()),
            redundant,
            advice,
            item,
        }
    }

    /// `a[0:n]`
    fn item(&self, it: &Transfer) -> String {
        match (it.inferred.as_slice(), it.item) {
            ([], Some(item)) => self.expr(item),
            ([], None) => self.var_name(it.var),
            (parts, _) => {
                let parts: Vec<String> = parts.iter().map(|it| it.text(self.program)).collect();
                format!("{}[{}]", self.var_name(it.var), parts.join(", "))
            }
        }
    }

    /// A copy that makes no difference.
    fn wasted(&self, region: &Region, it: &Transfer, record: &MoveRecord) -> Diagnostic {
        let message = match it.waste.len() {
            1 => format!("a copy of `{}` makes no difference", record.item),
            _ => format!("copies of `{}` make no difference", record.item),
        };
        let at = match it.origin {
            Origin::Clause(at) => {
                let clause = region.construct.clauses.get(at as usize);
                clause.map_or(region.span, |it| it.span)
            }
            Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => region.span,
        };
        let mut why = it.waste.iter().map(|it| it.text());
        let mut found = Diagnostic::info("F0904", message).at(at, why.next().unwrap_or_default());
        for why in why {
            found = found.note(format!("it is also {why}"));
        }
        if let Some(size) = &record.size {
            found = found.note(format!("each copy has {}", bytes_words(record.bytes, size)));
        }
        match &record.advice {
            Some(advice) => found.help(format!("write `{advice}`")),
            None => found,
        }
    }

    /// What could stay on the device.
    pub(super) fn kept(&self, numbers: &Numbers, remarks: &mut Diagnostics) -> Vec<KeptRecord> {
        let kept = self.analysis.kept();
        kept.iter()
            .map(|it| {
                let record = self.kept_record(it, numbers);
                remarks.push(self.could_stay(it, &record));
                record
            })
            .collect()
    }

    fn kept_record(&self, it: &Kept, numbers: &Numbers) -> KeptRecord {
        let item = self.item(&it.transfer);
        let (first, last) = (self.stmt_span(it.around.0), self.stmt_span(it.around.1));
        let last_line = self.locator.locate(last).map_or(0, |it| it.end_line);
        let place = self.place(first);
        let regions: Vec<usize> =
            it.regions.iter().filter_map(|it| numbers.get(it).copied()).collect();
        let dialect = it.regions.first().map(|it| self.program.regions[*it].construct.dialect);
        let advice = dialect.and_then(|dialect| data_region(it.motion, &item, dialect));
        let message = if it.is_loop {
            format!("`{item}` is copied in each round of the loop in line {}", place.line)
        } else {
            let regions =
                it.regions.iter().map(|it| self.place(self.program.regions[*it].span).line);
            let lines: Vec<String> = regions.map(|it| it.to_string()).collect();
            format!("`{item}` is copied again for the regions in lines {}", listed(&lines))
        };
        let is_pointer = self.program.types.is_pointer(self.program.vars[it.var].ty);
        let provided = (it.is_loop && is_pointer)
            .then(|| format!("the loop runs at least once, or `{item}` is memory all the same"));
        KeptRecord {
            item,
            regions,
            place,
            last_line,
            is_loop: it.is_loop,
            message,
            advice,
            provided,
        }
    }

    /// Data that could stay on the device.
    fn could_stay(&self, it: &Kept, record: &KeptRecord) -> Diagnostic {
        let message = format!("`{}` could stay on the device", record.item);
        let mut regions = it.regions.iter().map(|it| self.program.regions[*it].span);
        let first = regions.next().unwrap_or(Span::NONE);
        let words = if it.is_loop { "copied here in each round" } else { "copied here" };
        let mut found = Diagnostic::info("F0905", message).at(first, words);
        for region in regions.take(8) {
            found = found.label(region, if it.is_loop { words } else { "copied again here" });
        }
        found = found.note("the host leaves it alone in between");
        let around = match it.is_loop {
            true => format!("around the loop in line {}", record.place.line),
            false => format!("around lines {} to {}", record.place.line, record.last_line),
        };
        if let Some(advice) = &record.advice {
            found = found.help(format!("write `{advice}` {around}"));
        }
        match &record.provided {
            Some(provided) => found.note(format!("that does the same provided {provided}")),
            None => found,
        }
    }
}

fn motion(it: Motion) -> &'static str {
    match it {
        Motion::Unsaid | Motion::ToFrom => "tofrom",
        Motion::To => "to",
        Motion::From => "from",
        Motion::Alloc => "alloc",
        Motion::Release => "release",
        Motion::Delete => "delete",
    }
}

fn constant(sum: &Sum) -> Option<u64> {
    let is_number = sum.terms.iter().all(|it| it.1.is_empty());
    if is_number { u64::try_from(sum.constant()).ok() } else { None }
}

/// `800 bytes`, `8 * n bytes`
pub(super) fn bytes_words(bytes: Option<u64>, size: &str) -> String {
    match bytes {
        Some(1) => "1 byte".to_owned(),
        Some(bytes) => format!("{bytes} bytes"),
        None => format!("{size} bytes"),
    }
}

/// `1, 2 and 3`
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
