//! Times that a program prints about itself: gathered, and put in order.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;

/// The times of everything that was timed, by name.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<String, Vec<f64>>);

impl Samples {
    /// Runs a program whose lines are words, the name, and a number, the time.
    pub(crate) fn gather(&mut self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{command:?}: {}: {said}", output.status).into());
        }
        for line in String::from_utf8(output.stdout)?.lines() {
            let (name, time) = line.rsplit_once(' ').ok_or("a line without a time")?;
            self.0.entry(name.to_owned()).or_default().push(time.parse()?);
        }
        Ok(())
    }

    /// The time in the middle: half of them took longer.
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        let mut times = self.0.get(name)?.clone();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    }

    /// The shortest time: what others on the machine could not prolong.
    pub(crate) fn least(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.iter().copied().min_by(f64::total_cmp)
    }
}

/// A cell of a table.
pub(crate) fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.digits$}"))
}

/// How many times the second goes into the first.
pub(crate) fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    of.zip(to).map(|(of, to)| of / to)
}
