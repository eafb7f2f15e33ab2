//! The same objects linked in other orders.
//!
//! Where code lies matters more than what is to be shown: equal instructions differ by a tenth between
//! one address and another. So a program is linked many times, with its sides in another order and gaps
//! between them, and what is told is the mean over these programs.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::{Tools, compile};

/// Enough to see that everything works, and the least that has a mean.
pub(crate) const QUICK: usize = 3;

/// Links `program` of objects that stay in front and of the sides in one of their orders, each behind a
/// gap of its own.
pub(crate) fn link<S: AsRef<str>>(
    tools: &Tools,
    folder: &Path,
    first: &[&str],
    sides: &[S],
    layout: usize,
) -> Result<(), Box<dyn Error>> {
    let mut sides: Vec<&str> = sides.iter().map(AsRef::as_ref).collect();
    let mut link = Command::new(&tools.ferry);
    link.args(["cc", "-fopenmp"]).args(first);
    // The digits of a linear congruence: the same gaps in every run, without a pattern in them.
    let mut state = layout as u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    while !sides.is_empty() {
        let side = sides.swap_remove(draw(sides.len() as u32) as usize);
        let gap = format!("gap-{side}");
        // Functions begin at multiples of 16; a page is the most that caches and predictors look at.
        let skip = 16 * (1 + draw(255));
        let text = format!(".text\n.skip {skip}\n.section .note.GNU-stack,\"\",@progbits\n");
        std::fs::write(folder.join(format!("{gap}.s")), text)?;
        let mut assemble = Command::new(&tools.cc);
        compile(assemble.args(["-c", &format!("{gap}.s")]).current_dir(folder))?;
        link.arg(format!("{gap}.o")).arg(format!("{side}.o"));
    }
    compile(link.args(["-lm", "-o", "program"]).current_dir(folder))
}
