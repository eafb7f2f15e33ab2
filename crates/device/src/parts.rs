//! The images of a program of several files, where nobody links them: each in a container of its own, one behind
//! the other.

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
