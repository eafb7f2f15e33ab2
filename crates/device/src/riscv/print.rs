//! `printf` of kernels: a format and 8-byte words, formatted by the host's C library piece by piece.
#![allow(unsafe_code, reason = "calls the C library")]

use std::ffi::{CString, c_char, c_int, c_void};

/// What formatting needs of its caller.
pub(super) trait Words {
    /// The next argument.
    fn next(&mut self) -> Option<u64>;
    /// A text that ends with a zero byte, or after so many bytes.
    fn text(&mut self, at: u64, most: Option<usize>) -> Option<Vec<u8>>;
}

/// Formats. `None` if an argument or a text is not there, or the format is none.
pub(super) fn format(format: &[u8], words: &mut dyn Words) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|it| *it == b'%') {
        let (before, from) = rest.split_at(at);
        out.extend_from_slice(before);
        let (piece, after) = Conversion::read(from.get(1..)?, words)?;
        piece.put(words, &mut out)?;
        rest = after;
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// A conversion with its numbers filled in: `%-08.3`, its size and its letter.
struct Conversion {
    start: Vec<u8>,
    precision: Option<usize>,
    is_long: bool,
    letter: u8,
}

impl Conversion {
    fn read<'a>(from: &'a [u8], words: &mut dyn Words) -> Option<(Conversion, &'a [u8])> {
        let mut it = Conversion { start: vec![b'%'], precision: None, is_long: false, letter: 0 };
        let mut bytes = from.iter().enumerate();
        let mut precision: Option<String> = None;
        loop {
            let (at, byte) = bytes.next()?;
            match byte {
                b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' if precision.is_none() => {
                    it.start.push(*byte)
                }
                b'0'..=b'9' => precision.as_mut()?.push(char::from(*byte)),
                b'.' => precision = Some(String::new()),
                b'*' => {
                    let number = words.next()? as i32;
                    match &mut precision {
                        None => it.start.extend(number.to_string().bytes()),
                        Some(text) => text.push_str(&number.to_string()),
                    }
                }
                b'l' | b'z' | b'j' | b't' => it.is_long = true,
                b'h' => it.start.push(b'h'),
                b'L' | b'n' => return None,
                letter => {
                    it.letter = *letter;
                    // A precision below zero is none.
                    let digits = precision.filter(|it| !it.starts_with('-'));
                    it.precision = digits.map(|it| it.parse().unwrap_or(0));
                    return Some((it, from.get(at + 1..)?));
                }
            }
        }
    }

    fn put(mut self, words: &mut dyn Words, out: &mut Vec<u8>) -> Option<()> {
        let halves = self.start.iter().filter(|it| **it == b'h').count();
        self.start.retain(|it| *it != b'h');
        if let Some(precision) = self.precision {
            self.start.extend(format!(".{precision}").bytes());
        }
        match self.letter {
            b'%' => out.push(b'%'),
            b'd' | b'i' => {
                let word = words.next()?;
                let value = match (self.is_long, halves) {
                    (true, _) => word as i64,
                    (false, 0) => i64::from(word as i32),
                    (false, 1) => i64::from(word as i16),
                    (false, _) => i64::from(word as i8),
                };
                self.say(b"lld", out, |to, room, text| {
                    // SAFETY: room for the text, a format for one number of this size, and that number.
                    unsafe { libc::snprintf(to, room, text, value) }
                })?;
            }
            letter @ (b'u' | b'x' | b'X' | b'o') => {
                let word = words.next()?;
                let value = match (self.is_long, halves) {
                    (true, _) => word,
                    (false, 0) => u64::from(word as u32),
                    (false, 1) => u64::from(word as u16),
                    (false, _) => u64::from(word as u8),
                };
                self.say(&[b'l', b'l', letter], out, |to, room, text| {
                    // SAFETY: as above.
                    unsafe { libc::snprintf(to, room, text, value) }
                })?;
            }
            letter @ (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A') => {
                let value = f64::from_bits(words.next()?);
                self.say(&[letter], out, |to, room, text| {
                    // SAFETY: as above.
                    unsafe { libc::snprintf(to, room, text, value) }
                })?;
            }
            b'c' => {
                let value = words.next()? as u8;
                if value == 0 {
                    out.push(0);
                } else {
                    self.say(b"c", out, |to, room, text| {
                        // SAFETY: as above.
                        unsafe { libc::snprintf(to, room, text, c_int::from(value)) }
                    })?;
                }
            }
            b'p' => {
                let value = words.next()? as usize as *const c_void;
                self.say(b"p", out, |to, room, text| {
                    // SAFETY: as above.
                    unsafe { libc::snprintf(to, room, text, value) }
                })?;
            }
            b's' => {
                let at = words.next()?;
                let bytes = match at {
                    0 => b"(null)".to_vec(),
                    at => words.text(at, self.precision)?,
                };
                let value = CString::new(bytes).ok()?;
                self.say(b"s", out, |to, room, text| {
                    // SAFETY: as above; the text ends with a zero byte.
                    unsafe { libc::snprintf(to, room, text, value.as_ptr()) }
                })?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Asks how long it is, then for the text.
    fn say(
        &self,
        end: &[u8],
        out: &mut Vec<u8>,
        print: impl Fn(*mut c_char, usize, *const c_char) -> c_int,
    ) -> Option<()> {
        let format = CString::new([self.start.as_slice(), end].concat()).ok()?;
        let len = usize::try_from(print(std::ptr::null_mut(), 0, format.as_ptr())).ok()?;
        let mut text = vec![0u8; len + 1];
        print(text.as_mut_ptr().cast(), len + 1, format.as_ptr());
        text.truncate(len);
        out.extend(text);
        Some(())
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// Puts a kernel's text where the program's own goes, in the order of both.
pub(super) fn show(text: &[u8], to_stderr: bool) {
    // SAFETY: streams of the C library, which are there as long as the process; it locks them.
    unsafe {
        let stream = if to_stderr { stderr } else { stdout };
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct List(Vec<u64>);

    impl Words for List {
        fn next(&mut self) -> Option<u64> {
            (!self.0.is_empty()).then(|| self.0.remove(0))
        }
        fn text(&mut self, at: u64, most: Option<usize>) -> Option<Vec<u8>> {
            let all: &[u8] = if at == 1 { b"text" } else { return None };
            Some(all[..most.unwrap_or(all.len()).min(all.len())].to_vec())
        }
    }

    #[test]
    fn formats_are_those_of_c() {
        let check = |text: &str, words: &[u64], expect: Option<&str>| {
            let made = format(text.as_bytes(), &mut List(words.to_vec()));
            assert_eq!(made.as_deref(), expect.map(str::as_bytes), "{text}");
        };
        check("a %d b\n", &[0xffff_ffff], Some("a -1 b\n"));
        check("%ld|%lld|%zu", &[u64::MAX, 5, 1 << 40], Some("-1|5|1099511627776"));
        check("%u %x %#X %o", &[u64::MAX, 255, 255, 8], Some("4294967295 ff 0XFF 10"));
        check("%hhd %hd %hhu", &[0xff, 0xffff, 0x1ff], Some("-1 -1 255"));
        check(
            "%5.2f|%-8g|%e",
            &[1.5f64.to_bits(), 0.25f64.to_bits(), 0],
            Some(" 1.50|0.25    |0.000000e+00"),
        );
        check("%*d|%-*d|%.*f", &[4, 7, 3, 7, 1, 2.25f64.to_bits()], Some("   7|7  |2.2"));
        check("%s %.2s %s", &[1, 1, 0], Some("text te (null)"));
        check("%c%c%%", &[65, 0], Some("A\0%"));
        check("%p", &[0x1234], Some("0x1234"));
        check("%d", &[], None);
        check("%s", &[2], None);
        check("%n", &[1], None);
        check("%Lf", &[1], None);
        check("%", &[1], None);
        check("%y", &[1], None);
    }
}
