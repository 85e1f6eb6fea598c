// SPDX-License-Identifier: Apache-2.0
//! AWS-LC's, libsodium's and rand's generators behind names of our own, for tests/bench/crates.c.
//!
//! Each function fills out[0..len) and returns whether it could.

use rand::RngCore;
use std::ffi::c_void;
use std::ptr::addr_of;

#[no_mangle]
pub unsafe extern "C" fn bench_fill_aws_lc(_: *const c_void, out: *mut u8, len: usize) -> bool {
    aws_lc_sys::RAND_bytes(out, len) == 1
}

/// Its implementations are tables of functions.
unsafe fn fill_by(how: *const libsodium_sys::randombytes_implementation, out: *mut u8, len: usize) -> bool {
    match (*how).buf {
        Some(fill) => fill(out.cast::<c_void>(), len),
        None => return false,
    }
    true
}

/// By the system's generator, a request each time: libsodium's default.
#[no_mangle]
pub unsafe extern "C" fn bench_fill_libsodium(_: *const c_void, out: *mut u8, len: usize) -> bool {
    fill_by(addr_of!(libsodium_sys::randombytes_sysrandom_implementation), out, len)
}

/// By its generator in the process, which a program has to choose.
#[no_mangle]
pub unsafe extern "C" fn bench_fill_libsodium_internal(_: *const c_void, out: *mut u8, len: usize) -> bool {
    fill_by(addr_of!(libsodium_sys::randombytes_internal_implementation), out, len)
}

/// Rust's ThreadRng: ChaCha12 in the thread, seeded by the system.
#[no_mangle]
pub unsafe extern "C" fn bench_fill_thread_rng(_: *const c_void, out: *mut u8, len: usize) -> bool {
    rand::rng().fill_bytes(std::slice::from_raw_parts_mut(out, len));
    true
}

#[no_mangle]
pub unsafe extern "C" fn bench_open_crates() -> bool {
    libsodium_sys::sodium_init() >= 0
}
