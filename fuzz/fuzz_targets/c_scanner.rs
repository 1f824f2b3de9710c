//! The C SDK's scanner against the host's checker: the same code at the same byte. What both accept passes through cJSON and the
//! SDK's writer, and the host accepts it again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modberth_cjson_sys::compare;
use modberth_protocol::json::{Profile, check};

fuzz_target!(|document: &[u8]| {
    compare(document, |document| {
        let violation = check(document, &Profile::PROCESS).err()?;
        let offset = violation.place.offset.and_then(|offset| usize::try_from(offset).ok());
        Some((violation.code.as_str().to_owned(), offset.expect("a fault of JSON has an offset")))
    });
});
