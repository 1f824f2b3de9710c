//! A stream read whole and read in pieces: the same payloads, the same end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modberth_protocol::Code;
use modberth_protocol::frame::{Decoder, encode};

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<Code>) {
    let (mut decoder, mut payloads) = (Decoder::new(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match decoder.push(&mut piece) {
                Ok(Some(payload)) => payloads.push(payload),
                Ok(None) => assert!(piece.is_empty() && decoder.wanted() > 0),
                Err(violation) => return (payloads, Some(violation.code)),
            }
            assert!(decoder.reserved_bytes() <= 1_048_576);
        }
    }
    (payloads, decoder.end().err().map(|violation| violation.code))
}

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (stream, sizes) = input;
    let whole = decode(std::iter::once(&stream[..]));
    let (mut rest, mut pieces, mut next) = (&stream[..], Vec::new(), 0);
    while !rest.is_empty() {
        let size = sizes.get(next % sizes.len().max(1)).map_or(1, |size| usize::from(*size) + 1);
        let (piece, left) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        (rest, next) = (left, next + 1);
    }
    assert_eq!(decode(pieces.into_iter()), whole);
    // What was read is what would be written.
    let mut at = 0;
    for payload in &whole.0 {
        let frame = encode(payload).expect("it was a frame");
        assert_eq!(stream[at..at + frame.len()], frame);
        at += frame.len();
    }
});
