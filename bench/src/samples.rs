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

    /// How much longer one took than the other, by turns: the ratio in the middle, and the two between
    /// which it lies with 95 of 100, since turns of one process are alike and machines are not.
    pub(crate) fn by_turns(&self, of: &str, to: &str) -> Option<Turns> {
        let turns = self.0.get(of)?.iter().zip(self.0.get(to)?);
        let mut ratios: Vec<f64> = turns.map(|(of, to)| of / to).collect();
        ratios.sort_by(f64::total_cmp);
        // The middle of n values lies between these two, whatever their distribution.
        let half_width = 0.98 * (ratios.len() as f64).sqrt();
        let middle = ratios.len() as f64 / 2.0;
        let at = |place: f64| ratios.get(place.max(0.0) as usize).or(ratios.last()).copied();
        Some(Turns {
            middle: at(middle)?,
            from: at(middle - half_width)?,
            to: at(middle + half_width)?,
        })
    }

    /// The shortest time: what others on the machine could not prolong.
    pub(crate) fn least(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.iter().copied().min_by(f64::total_cmp)
    }
}

/// A ratio of two times, and how sure it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Half of the ratios are greater.
    pub(crate) middle: f64,
    /// The true middle is hardly less.
    pub(crate) from: f64,
    /// Nor more.
    pub(crate) to: f64,
}

/// A cell of a table.
pub(crate) fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.digits$}"))
}

/// How many times the second goes into the first.
pub(crate) fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    of.zip(to).map(|(of, to)| of / to)
}
