//! Frames: encoder, decoder, and any fragmentation.

use modberth_protocol::Code;
use modberth_protocol::frame::{Decoder, encode, encode_into, header};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMIT: usize = 1_048_576;

/// Feeds pieces; gives the payloads, and the code of what went wrong.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<Code>) {
    let (mut decoder, mut payloads) = (Decoder::new(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match decoder.push(&mut piece) {
                Ok(Some(payload)) => payloads.push(payload),
                Ok(None) => assert!(piece.is_empty()),
                Err(violation) => {
                    assert_eq!(violation.place.frame, Some(payloads.len() as u32 + 1));
                    return (payloads, Some(violation.code));
                }
            }
        }
    }
    (payloads, decoder.end().err().map(|violation| violation.code))
}

/// P1-FRAME-01
#[test]
fn a_frame_is_a_big_endian_length_and_the_payload() {
    assert_eq!(encode(b"{}").unwrap(), b"\x00\x00\x00\x02{}");
    assert_eq!(header(0x0001_0203).unwrap(), [0, 1, 2, 3]);
    assert_eq!(decode([&b"\x00\x00\x00\x02{}"[..]]), (vec![b"{}".to_vec()], None));
}

/// P1-FRAME-02, P1-FRAME-03
#[test]
fn the_encoder_refuses_what_the_decoder_would() {
    let mut out = b"before".to_vec();
    let empty = encode_into(b"", &mut out).unwrap_err();
    assert_eq!((empty.code, empty.limit, empty.actual), (Code::FrameEmpty, Some(1), Some(0)));
    let large = encode_into(&vec![b' '; LIMIT + 1], &mut out).unwrap_err();
    assert_eq!(
        (large.code, large.limit, large.actual),
        (Code::FrameTooLarge, Some(1_048_576), Some(1_048_577))
    );
    assert_eq!(out, b"before");
    assert_eq!(encode(&vec![b' '; LIMIT]).unwrap().len(), LIMIT + 4);
}

/// P1-FRAME-02: refused on the fourth header byte, with not one byte of payload there.
#[test]
fn a_length_is_judged_on_the_header() {
    for (declared, code) in
        [(0u32, Code::FrameEmpty), (1_048_577, Code::FrameTooLarge), (u32::MAX, Code::FrameTooLarge)]
    {
        let bytes = declared.to_be_bytes();
        let mut decoder = Decoder::new();
        assert_eq!(decoder.push(&mut &bytes[..3]), Ok(None));
        let violation = decoder.push(&mut &bytes[3..]).unwrap_err();
        assert_eq!((violation.code, violation.actual), (code, Some(u64::from(declared))));
        assert_eq!(violation.place.frame, Some(1));
        // It stays refused.
        assert_eq!(decoder.push(&mut &b"{}"[..]), Err(violation.clone()));
        assert_eq!(decoder.end(), Err(violation));
    }
    let (payloads, code) = decode([&encode(&vec![b'x'; LIMIT]).unwrap()[..]]);
    assert_eq!((payloads.len(), payloads[0].len(), code), (1, LIMIT, None));
}

/// P1-FRAME-02: a header alone reserves little, and memory grows with what has arrived.
#[test]
fn nothing_of_the_declared_size_is_allocated_before_it_arrives() {
    let mut decoder = Decoder::new();
    let bytes = 1_048_576u32.to_be_bytes();
    assert_eq!(decoder.push(&mut &bytes[..]), Ok(None));
    assert!(decoder.reserved_bytes() <= 65_536, "{}", decoder.reserved_bytes());
    let mut arrived = 0;
    while arrived < LIMIT - 1000 {
        assert_eq!(decoder.push(&mut &[b'x'; 1000][..]), Ok(None));
        arrived += 1000;
        assert!(decoder.reserved_bytes() <= 65_536.max(2 * arrived).min(LIMIT));
    }
    assert_eq!(decoder.wanted(), LIMIT - arrived);
}

/// P1-HOST-06: stray text is named as such.
#[test]
fn a_header_that_reads_as_text_says_so() {
    let violation = Decoder::new().push(&mut &b"Starting up...\n"[..]).unwrap_err();
    assert_eq!(violation.code, Code::FrameTooLarge);
    assert!(violation.message.starts_with("The four header bytes read \"Star\" as text."), "{violation}");
    assert!(violation.remedy().starts_with("Write nothing but frames"), "{}", violation.remedy());
    // The same for text that is shorter than a header.
    let mut decoder = Decoder::new();
    assert_eq!(decoder.push(&mut &b"hi\n"[..]), Ok(None));
    let violation = decoder.end().unwrap_err();
    assert_eq!((violation.code, violation.limit, violation.actual), (Code::FrameTruncated, Some(4), Some(3)));
    assert!(violation.message.contains("\"hi\\n\""), "{violation}");
    assert!(violation.remedy().starts_with("Write nothing but frames"), "{}", violation.remedy());
    // A length is none of it.
    let large = Decoder::new().push(&mut &[0, 0x10, 0, 1][..]).unwrap_err();
    assert_eq!(large.remedy(), Code::FrameTooLarge.remedy());
}

/// P1-FRAME-04: bytes count, not characters.
#[test]
fn text_of_every_width_goes_round() {
    let payload = "{\"a\":\"aé日😀\"}";
    let frame = encode(payload.as_bytes()).unwrap();
    assert_eq!(frame[..4], [0, 0, 0, 18]);
    assert_ne!(payload.chars().count(), 18);
    assert_eq!(decode([&frame[..]]).0, [payload.as_bytes()]);
}

/// P1-FRAME-05
#[test]
fn an_end_inside_a_frame_is_truncation_wherever_it_is() {
    let frame = encode(b"{\"a\":1}").unwrap();
    for cut in 1..frame.len() {
        let mut decoder = Decoder::new();
        assert_eq!(decoder.push(&mut &frame[..cut]), Ok(None));
        assert!(!decoder.is_at_boundary());
        let violation = decoder.end().unwrap_err();
        assert_eq!(violation.code, Code::FrameTruncated);
        let (limit, actual) = if cut < 4 { (4, cut) } else { (7, cut - 4) };
        assert_eq!((violation.limit, violation.actual), (Some(limit), Some(actual as u64)));
        assert_eq!(decoder.frames(), 0);
    }
    assert!(Decoder::new().is_at_boundary());
    assert_eq!(Decoder::new().end(), Ok(()));
}

/// P1-FRAME-06
#[test]
fn one_byte_at_a_time_and_all_at_once_read_the_same() {
    let mut stream = encode(b"{\"a\":1}").unwrap();
    encode_into(b"{}", &mut stream).unwrap();
    let whole = decode([&stream[..]]);
    assert_eq!(whole, (vec![b"{\"a\":1}".to_vec(), b"{}".to_vec()], None));
    assert_eq!(decode(stream.chunks(1)), whole);
    for split in 0..=stream.len() {
        assert_eq!(decode([&stream[..split], &stream[split..]]), whole);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// P1-FRAME-06
    #[test]
    fn any_fragmentation_reads_the_same(
        payloads in vec(vec(any::<u8>(), 1..300), 0..6),
        tail in vec(any::<u8>(), 0..9),
        sizes in vec(1..40usize, 1..20),
    ) {
        let mut stream = Vec::new();
        for payload in &payloads {
            encode_into(payload, &mut stream).unwrap();
        }
        stream.extend(tail);
        let mut pieces = Vec::new();
        let (mut rest, mut sizes) = (&stream[..], sizes.iter().cycle());
        while !rest.is_empty() {
            let (piece, next) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            pieces.push(piece);
            rest = next;
        }
        let whole = decode([&stream[..]]);
        prop_assert_eq!(&decode(pieces), &whole);
        prop_assert_eq!(&whole.0[..payloads.len()], &payloads[..]);
    }
}
