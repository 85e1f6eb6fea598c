// SPDX-License-Identifier: Apache-2.0
//! libdrng from Rust, by declarations written by hand: random bytes and a seed.
//!
//!     rustc drng.rs -L /usr/lib/x86_64-linux-gnu && ./drng

use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

#[repr(C)]
pub struct SeedInfo {
    source: *const c_char,
    conditioner: *const c_char,
    grade: c_uint,
    raw_words: c_uint,
    claimed_bits: c_uint,
    reserved: [u64; 4],
}

#[link(name = "drng")]
extern "C" {
    fn drng_strerror(error: c_int) -> *const c_char;
    fn drng_open(handle: *mut *mut c_void, choice: c_uint) -> c_int;
    fn drng_read(handle: *mut c_void, bytes: *mut c_void, len: usize) -> c_int;
    fn drng_close(handle: *mut c_void);
    fn drng_conditioned_seed(seed: *mut c_void, len: usize, choice: c_uint, conditioning: c_uint, info: *mut SeedInfo) -> c_int;
}

#[derive(Clone, Copy)]
pub enum Choice {
    Any = 1,
    HardwareOnly = 2,
    SeedGradeOnly = 3,
}

const BY_CBC_MAC: c_uint = 1;

fn text(constant: *const c_char) -> String {
    // Constant, and ended by a NUL: drng.h.
    unsafe { CStr::from_ptr(constant) }.to_string_lossy().into_owned()
}

fn check(error: c_int) -> Result<(), String> {
    if error == 0 {
        Ok(())
    } else {
        Err(text(unsafe { drng_strerror(error) }))
    }
}

/// Closed when it is dropped.
pub struct Generator(*mut c_void);

// Calls on one handle take turns inside the library.
unsafe impl Send for Generator {}
unsafe impl Sync for Generator {}

impl Generator {
    pub fn open(choice: Choice) -> Result<Generator, String> {
        let mut handle = ptr::null_mut();
        check(unsafe { drng_open(&mut handle, choice as c_uint) })?;
        Ok(Generator(handle))
    }

    /// After an error `bytes` is all zero.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), String> {
        check(unsafe { drng_read(self.0, bytes.as_mut_ptr().cast(), bytes.len()) })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        unsafe { drng_close(self.0) }
    }
}

/// Fills `bytes` with conditioned seed, and returns the source.
pub fn seed(bytes: &mut [u8], choice: Choice) -> Result<String, String> {
    let mut info = SeedInfo {
        source: ptr::null(),
        conditioner: ptr::null(),
        grade: 0,
        raw_words: 0,
        claimed_bits: 0,
        reserved: [0; 4],
    };
    check(unsafe { drng_conditioned_seed(bytes.as_mut_ptr().cast(), bytes.len(), choice as c_uint, BY_CBC_MAC, &mut info) })?;
    Ok(text(info.source))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn main() -> Result<(), String> {
    let mut bytes = [0; 32];
    for choice in [Choice::Any, Choice::HardwareOnly, Choice::SeedGradeOnly] {
        match Generator::open(choice) {
            Ok(generator) => {
                generator.read(&mut bytes)?;
                println!("{}", hex(&bytes));
            }
            Err(why) => println!("{why}"),
        }
    }
    let source = seed(&mut bytes, Choice::Any)?;
    println!("{} from {source}", hex(&bytes));
    Ok(())
}
