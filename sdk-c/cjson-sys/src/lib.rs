//! The C SDK built against the system's cJSON, so that Rust tests and fuzzers drive C code too.
//!
//! What an SDK for modules does with bytes stands here behind safe functions: the strict scanner ([`check`]), the writer
//! ([`rewrite`], [`number`]), and a whole exchange without its streams ([`read_request`], [`answer`]). [`cjson_accepts`] is cJSON's
//! own parser, to compare with. Nothing here is part of an interface for module authors: they use the SDK from C.

use std::ffi::{CStr, c_char};
use std::fmt;

/// Why the C SDK refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code, as `conformance/errors.json` lists it.
    pub code: String,
    /// The text behind the code in the module's diagnostics.
    pub text: String,
    /// The place in the document in bytes; only [`check`] and [`rewrite`] give it.
    pub offset: usize,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.text)
    }
}

impl std::error::Error for Refusal {}

/// Bytes of `mbs_refusal.text` in `native/shim.c`.
const TEXT: usize = 1900;
/// Bytes that `mbs_number` may write.
const NUMBER: usize = 32;

#[repr(C)]
struct RawRefusal {
    code: [c_char; 64],
    text: [c_char; TEXT],
    offset: usize,
}

impl RawRefusal {
    const fn new() -> Self {
        RawRefusal { code: [0; 64], text: [0; TEXT], offset: 0 }
    }

    fn take(&self) -> Refusal {
        Refusal { code: text(&self.code), text: text(&self.text), offset: self.offset }
    }
}

/// The text before the first NUL.
fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> =
        chars.iter().map(|&char| char.cast_unsigned()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

unsafe extern "C" {
    fn mbs_refusal_size() -> usize;
    fn mbs_check(document: *const u8, length: usize, refusal: *mut RawRefusal) -> bool;
    fn mbs_cjson_accepts(document: *const u8, length: usize) -> bool;
    fn mbs_rewrite(
        document: *const u8,
        length: usize,
        bytes: *mut *mut u8,
        size: *mut usize,
        refusal: *mut RawRefusal,
    ) -> bool;
    fn mbs_answer(
        hello: *const u8,
        hello_length: usize,
        invoke: *const u8,
        invoke_length: usize,
        results: *const u8,
        results_length: usize,
        bytes: *mut *mut u8,
        size: *mut usize,
        refusal: *mut RawRefusal,
    ) -> bool;
    fn mbs_number(value: f64, out: *mut c_char) -> usize;
    fn mbs_free(bytes: *mut u8);
}

/// The document with the NUL behind it that the C side relies on.
fn terminated(document: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(document.len() + 1);
    bytes.extend_from_slice(document);
    bytes.push(0);
    bytes
}

/// Runs a call that fills a refusal, after a check that both languages agree on its layout.
fn call(run: impl FnOnce(&mut RawRefusal) -> bool) -> Result<(), Refusal> {
    // SAFETY: the function takes nothing and returns a constant.
    assert_eq!(unsafe { mbs_refusal_size() }, size_of::<RawRefusal>());
    let mut refusal = RawRefusal::new();
    if run(&mut refusal) { Ok(()) } else { Err(refusal.take()) }
}

/// Takes over bytes that the C side allocated.
fn taken(bytes: *mut u8, size: usize) -> Vec<u8> {
    if bytes.is_null() {
        return Vec::new();
    }
    // SAFETY: the C side gave `size` initialised bytes at `bytes`, which nobody else holds.
    let copy = unsafe { std::slice::from_raw_parts(bytes, size) }.to_vec();
    // SAFETY: the bytes came from cJSON's allocator and are freed once.
    unsafe { mbs_free(bytes) };
    copy
}

/// Checks a document by the C SDK's strict scanner, under the process profile.
///
/// # Errors
/// The first fault, with its code and offset.
pub fn check(document: &[u8]) -> Result<(), Refusal> {
    let bytes = terminated(document);
    // SAFETY: `bytes` holds `document.len()` bytes and a NUL, and outlives the call; the refusal is ours.
    call(|refusal| unsafe { mbs_check(bytes.as_ptr(), document.len(), refusal) })
}

/// Whether cJSON's own parser takes the whole document.
#[must_use]
pub fn cjson_accepts(document: &[u8]) -> bool {
    let bytes = terminated(document);
    // SAFETY: `bytes` holds `document.len()` bytes and a NUL, and outlives the call.
    unsafe { mbs_cjson_accepts(bytes.as_ptr(), document.len()) }
}

/// Checks a document, lets cJSON parse it and writes it by the SDK's own writer.
///
/// # Errors
/// What the scanner or the writer refuses.
pub fn rewrite(document: &[u8]) -> Result<Vec<u8>, Refusal> {
    let bytes = terminated(document);
    let (mut out, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: as in `check`; the two out-parameters are ours.
    call(|refusal| unsafe { mbs_rewrite(bytes.as_ptr(), document.len(), &mut out, &mut size, refusal) })?;
    Ok(taken(out, size))
}

/// Checks the payloads of both request frames, as a module does.
///
/// # Errors
/// What the SDK refuses.
pub fn read_request(hello: &[u8], invoke: &[u8]) -> Result<(), Refusal> {
    exchange(hello, invoke, None).map(drop)
}

/// Checks both request payloads and a handler's results, given as JSON that cJSON reads, and gives the module's whole output.
///
/// # Errors
/// What the SDK refuses.
pub fn answer(hello: &[u8], invoke: &[u8], results: &[u8]) -> Result<Vec<u8>, Refusal> {
    exchange(hello, invoke, Some(results))
}

fn exchange(hello: &[u8], invoke: &[u8], results: Option<&[u8]>) -> Result<Vec<u8>, Refusal> {
    let (first, second) = (terminated(hello), terminated(invoke));
    let third = results.map(terminated);
    let (third, third_length) = match (&third, results) {
        (Some(bytes), Some(results)) => (bytes.as_ptr(), results.len()),
        _ => (std::ptr::null(), 0),
    };
    let (mut out, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the three texts are terminated and outlive the call (the third may be null); the out-parameters are ours.
    call(|refusal| unsafe {
        mbs_answer(
            first.as_ptr(),
            hello.len(),
            second.as_ptr(),
            invoke.len(),
            third,
            third_length,
            &mut out,
            &mut size,
            refusal,
        )
    })?;
    Ok(taken(out, size))
}

/// Writes a finite number as the C SDK does.
#[must_use]
pub fn number(value: f64) -> String {
    let mut out = [0; NUMBER];
    // SAFETY: the C side writes at most `NUMBER` bytes, the NUL included.
    let length = unsafe { mbs_number(value, out.as_mut_ptr()) };
    assert!(length < NUMBER);
    // SAFETY: what was written ends with NUL inside the array.
    unsafe { CStr::from_ptr(out.as_ptr()) }.to_string_lossy().into_owned()
}

/// The body of a fuzz target: the C scanner and the given checker must agree on every document, and what the scanner accepts
/// must pass through cJSON and the SDK's writer and be accepted again.
///
/// `reference` gives the code and offset of the first fault, or nothing.
///
/// # Panics
/// When the two disagree.
pub fn compare(document: &[u8], reference: impl Fn(&[u8]) -> Option<(String, usize)>) {
    let expected = reference(document);
    let actual = check(document).err().map(|refusal| (refusal.code, refusal.offset));
    if actual != expected && !only_names_a_foreign_number(document, &actual, &expected) {
        panic!("C says {actual:?}, the reference {expected:?}: {}", String::from_utf8_lossy(document));
    }
    if actual.is_none() && document.len() <= 1 << 20 {
        let again = rewrite(document).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(reference(&again), None, "the writer wrote {}", String::from_utf8_lossy(&again));
    }
}

/// Where a value must begin and a character of another script stands, both refuse at the same byte; whether that character
/// counts as a number is a matter of Unicode tables, which C does not have in full.
fn only_names_a_foreign_number(
    document: &[u8],
    actual: &Option<(String, usize)>,
    expected: &Option<(String, usize)>,
) -> bool {
    let (Some((left, at)), Some((right, there))) = (actual, expected) else { return false };
    let loose = |code: &str| code == "json.number" || code == "json.syntax";
    at == there && loose(left) && loose(right) && document.get(*at).is_some_and(|byte| !byte.is_ascii())
}
