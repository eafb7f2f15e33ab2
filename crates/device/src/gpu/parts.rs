//! The images of a program of several files, where nobody links them: each in a container of its own, one behind
//! the other; and names in them.

use abi::image::Container;

/// The images that a program's image is made of: itself, or those in containers.
pub(crate) fn of(image: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = image;
    while let (Ok(container), Ok(len)) = (Container::read(rest), Container::len_of(rest)) {
        parts.push(container.payload);
        rest = rest.get(len.max(1)..).unwrap_or_default();
    }
    if parts.is_empty() { vec![image] } else { parts }
}

/// Whether one of these names is in an image.
pub(crate) fn has_name(image: &[u8], names: &[&str]) -> bool {
    let starts: Vec<u8> = names.iter().filter_map(|it| it.bytes().next()).collect();
    let mut places = image.iter().enumerate().filter(|(_, byte)| starts.contains(byte));
    places.any(|(at, _)| {
        let rest = image.get(at..).unwrap_or_default();
        names.iter().any(|it| rest.starts_with(it.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_wherever_it_stands() {
        let names = ["vprintf", "__assertfail"];
        assert!(has_name(b"\x7fELF\0\0vprintf\0", &names));
        assert!(has_name(b"call __assertfail", &names));
        assert!(!has_name(b"print __assert v", &names));
        assert!(!has_name(b"", &names));
    }
}
