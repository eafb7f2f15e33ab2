//! One pointer that each thread has, found without a call.
//!
//! A variable of a thread costs a shared library a call of the loader, or room at a fixed place that the loader may not have when the
//! library is opened late. So the loader is asked by a descriptor (TLSDESC): a function and its argument, which answer how far the
//! variable is from the thread's own address. Where that function does nothing but give its argument back, the place is fixed, for all
//! threads that there will ever be, and from then on nobody is called. Else, and on other processors, [`get_anyway`] finds it.
#![allow(unsafe_code, reason = "variables of threads by their address")]

pub(crate) use place::{get, get_anyway, set};

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
mod place {
    use std::arch::{asm, global_asm};
    use std::sync::atomic::{AtomicUsize, Ordering};

    global_asm!(
        ".pushsection .tbss.ferry_own_pointer,\"awT\",@nobits",
        ".balign 8",
        ".globl ferry_own_pointer",
        ".hidden ferry_own_pointer",
        ".type ferry_own_pointer, @object",
        ".size ferry_own_pointer, 8",
        "ferry_own_pointer:",
        ".zero 8",
        ".popsection",
        ".pushsection .bss.ferry_own_distance,\"aw\",@nobits",
        ".balign 8",
        ".globl ferry_own_distance",
        ".hidden ferry_own_distance",
        ".type ferry_own_distance, @object",
        ".size ferry_own_distance, 8",
        "ferry_own_distance:",
        ".zero 8",
        ".popsection",
    );

    unsafe extern "C" {
        /// How far the variable is from the address of each thread; 0 if that is not known or not the same for all.
        #[link_name = "ferry_own_distance"]
        static DISTANCE: AtomicUsize;
    }

    /// The function of a descriptor whose distance is fixed, `mov 8(%rax), %rax; ret`, and what may stand before it.
    const GIVES_ARGUMENT: [u8; 5] = [0x48, 0x8b, 0x40, 0x08, 0xc3];
    const MAY_BE_JUMPED_TO: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

    /// The pointer; null where only [`get_anyway`] finds it.
    #[inline]
    pub(crate) fn get<T>() -> *mut T {
        let distance: usize;
        // SAFETY: a number that is read at once; compilers would look up where it is.
        unsafe {
            asm!(
                "mov {distance}, [rip + ferry_own_distance]",
                distance = lateout(reg) distance,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        if distance == 0 {
            return std::ptr::null_mut();
        }
        let at;
        // SAFETY: the variable is there in each thread.
        unsafe {
            asm!(
                "mov {at}, fs:[{distance}]",
                at = lateout(reg) at,
                distance = in(reg) distance,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        at
    }

    /// The pointer.
    pub(crate) fn get_anyway<T>() -> *mut T {
        // SAFETY: this thread's variable.
        unsafe { variable().cast::<*mut T>().read() }
    }

    /// Sets it.
    pub(crate) fn set<T>(to: *mut T) {
        // SAFETY: this thread's variable.
        unsafe { variable().cast::<*mut T>().write(to) };
    }

    fn variable() -> *mut u8 {
        let (descriptor, distance, thread): (usize, usize, usize);
        // SAFETY: the sequence that the ABI has for it. The first instruction gives the descriptor, or the distance itself where
        // the linker knows that; the first word that the segment leads to is its own address.
        unsafe {
            asm!(
                "lea ferry_own_pointer@tlsdesc(%rip), %rax",
                "mov %rax, %r12",
                "call *ferry_own_pointer@tlscall(%rax)",
                "mov %fs:0, %r13",
                out("r12") descriptor,
                out("r13") thread,
                lateout("rax") distance,
                clobber_abi("sysv64"),
                options(att_syntax)
            );
        }
        // SAFETY: defined above.
        let known = unsafe { &DISTANCE };
        if known.load(Ordering::Relaxed) == 0 && (descriptor == distance || is_fixed(descriptor)) {
            known.store(distance, Ordering::Relaxed);
        }
        thread.wrapping_add(distance) as *mut u8
    }

    /// Whether the function of a descriptor gives its argument back.
    fn is_fixed(descriptor: usize) -> bool {
        // SAFETY: a descriptor begins with a function, and code can be read; no byte behind its last instruction is.
        unsafe {
            let code = (descriptor as *const *const u8).read();
            let begins = |at: *const u8, with: &[u8]| {
                (0..with.len()).zip(with).all(|(i, it)| at.add(i).read() == *it)
            };
            let front = if begins(code, &MAY_BE_JUMPED_TO) { MAY_BE_JUMPED_TO.len() } else { 0 };
            begins(code.add(front), &GIVES_ARGUMENT)
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")))]
mod place {
    use std::cell::Cell;
    use std::ptr;

    thread_local! {
        static POINTER: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
    }

    #[inline]
    pub(crate) fn get<T>() -> *mut T {
        POINTER.get().cast()
    }

    pub(crate) fn get_anyway<T>() -> *mut T {
        get()
    }

    pub(crate) fn set<T>(to: *mut T) {
        POINTER.set(to.cast());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own() {
        let mut here = 1_u8;
        let check = |mine: *mut u8| {
            assert!(get_anyway::<u8>().is_null() && get::<u8>().is_null());
            set(mine);
            assert_eq!(get_anyway::<u8>(), mine);
            // In a program the place is fixed: the short way finds it too.
            assert_eq!(get::<u8>(), mine);
        };
        std::thread::spawn(move || {
            check(&raw mut here);
            std::thread::spawn(move || check(&raw mut here)).join().unwrap();
            assert_eq!(get::<u8>(), &raw mut here);
            set::<u8>(std::ptr::null_mut());
            assert!(get::<u8>().is_null());
        })
        .join()
        .unwrap();
    }
}
