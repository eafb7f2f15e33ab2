//! Calls of functions whose number of parameters is known only when they are called.
//!
//! The calling conventions of all our hosts let a caller pass more than the callee takes: it never
//! looks at the rest, and the caller clears the stack. So three widths serve every number.

use std::mem;

use crate::{DeviceError, Result};

/// `u64`, once per name.
macro_rules! word {
    ($name:ident) => {
        u64
    };
}

/// A function that calls another with exactly so many words.
macro_rules! width {
    ($caller:ident, $len:literal, $($arg:ident)*) => {
        /// # Safety
        /// As [`call`].
        #[allow(unsafe_code, reason = "a call by address")]
        unsafe fn $caller(function: usize, args: [u64; $len]) {
            let [$($arg),*] = args;
            // SAFETY: a C function by the caller's promise; words beyond its own are not looked at.
            unsafe {
                let function: unsafe extern "C" fn($(word!($arg)),*) = mem::transmute(function);
                function($($arg),*);
            }
        }
    };
}

width!(call_8, 8, a0 a1 a2 a3 a4 a5 a6 a7);
width!(
    call_32,
    32,
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24
    a25 a26 a27 a28 a29 a30 a31
);
width!(
    call_128,
    128,
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24
    a25 a26 a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39 a40 a41 a42 a43 a44 a45 a46 a47
    a48 a49 a50 a51 a52 a53 a54 a55 a56 a57 a58 a59 a60 a61 a62 a63 a64 a65 a66 a67 a68 a69 a70
    a71 a72 a73 a74 a75 a76 a77 a78 a79 a80 a81 a82 a83 a84 a85 a86 a87 a88 a89 a90 a91 a92 a93
    a94 a95 a96 a97 a98 a99 a100 a101 a102 a103 a104 a105 a106 a107 a108 a109 a110 a111 a112
    a113 a114 a115 a116 a117 a118 a119 a120 a121 a122 a123 a124 a125 a126 a127
);

/// Calls a function with these arguments, at most 128.
///
/// # Safety
/// `function` is the address of a C function that takes at most these arguments, all of them
/// 8-byte integers or pointers.
#[allow(unsafe_code, reason = "a call by address")]
pub unsafe fn call(function: usize, args: &[u64]) -> Result<()> {
    match args.len() {
        // SAFETY: the caller's promise, here and below.
        0..=8 => unsafe { call_8(function, padded(args)) },
        // SAFETY: see above.
        9..=32 => unsafe { call_32(function, padded(args)) },
        // SAFETY: see above.
        33..=128 => unsafe { call_128(function, padded(args)) },
        _ => return Err(DeviceError::Unsupported("kernels with more than 128 parameters")),
    }
    Ok(())
}

fn padded<const LEN: usize>(args: &[u64]) -> [u64; LEN] {
    let mut padded = [0; LEN];
    for (to, from) in padded.iter_mut().zip(args) {
        *to = *from;
    }
    padded
}

#[cfg(test)]
#[allow(unsafe_code, reason = "tests the border")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SEEN: AtomicU64 = AtomicU64::new(0);

    macro_rules! callee {
        ($name:ident, $($arg:ident)*) => {
            unsafe extern "C" fn $name($($arg: u64),*) {
                let mut sum = 0u64;
                $(sum = sum * 3 + $arg;)*
                SEEN.store(sum, Ordering::SeqCst);
            }
        };
    }
    callee!(one, a);
    callee!(six, a b c d e f);
    callee!(seven, a b c d e f g);
    callee!(nine, a b c d e f g h i);
    callee!(forty, a b c d e f g h i j k l m n o p q r s t
        a2 b2 c2 d2 e2 f2 g2 h2 i2 j2 k2 l2 m2 n2 o2 p2 q2 r2 s2 t2);

    #[test]
    fn every_parameter_arrives_in_its_place() {
        let functions = [
            (one as *const () as usize, 1),
            (six as *const () as usize, 6),
            (seven as *const () as usize, 7),
            (nine as *const () as usize, 9),
            (forty as *const () as usize, 40),
        ];
        for (function, count) in functions {
            let args: Vec<u64> = (1..=count).collect();
            let expect = args.iter().fold(0u64, |sum, it| sum.wrapping_mul(3).wrapping_add(*it));
            // SAFETY: each function takes exactly so many words.
            unsafe { call(function, &args) }.unwrap();
            assert_eq!(SEEN.load(Ordering::SeqCst), expect, "{count} parameters");
        }
        // SAFETY: refused before it is called.
        assert!(unsafe { call(one as *const () as usize, &[0; 129]) }.is_err());
    }
}
