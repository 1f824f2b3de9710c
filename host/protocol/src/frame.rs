//! Frames: a four-byte unsigned big-endian length, then that many bytes of payload (P1-FRAME-01).

use crate::limits::{FRAME_HEADER, FRAME_PAYLOAD};
use crate::{Code, Violation};

/// How much the decoder reserves before the first payload byte has arrived. More is reserved as bytes arrive, so a header
/// alone never costs more than this.
const FIRST_RESERVE: usize = 64 * 1024;

/// The header of a payload of this many bytes.
///
/// # Errors
/// `frame.empty` for 0 and `frame.too_large` for more than 1,048,576 bytes (P1-FRAME-02, P1-FRAME-03).
pub fn header(length: usize) -> Result<[u8; FRAME_HEADER], Violation> {
    let declared = u32::try_from(length).unwrap_or(u32::MAX);
    check_length(declared, None)?;
    Ok(declared.to_be_bytes())
}

/// One whole frame around a payload. The payload's JSON is not looked at.
///
/// # Errors
/// As [`header`].
pub fn encode(payload: &[u8]) -> Result<Vec<u8>, Violation> {
    let mut frame = Vec::with_capacity(FRAME_HEADER + payload.len());
    encode_into(payload, &mut frame)?;
    Ok(frame)
}

/// Appends one whole frame to a buffer, which stays as it was on error.
///
/// # Errors
/// As [`header`].
pub fn encode_into(payload: &[u8], out: &mut Vec<u8>) -> Result<(), Violation> {
    out.extend_from_slice(&header(payload.len())?);
    out.extend_from_slice(payload);
    Ok(())
}

/// Judges a declared length. `raw` are the header bytes as they came, for the message.
fn check_length(declared: u32, raw: Option<[u8; FRAME_HEADER]>) -> Result<(), Violation> {
    if declared == 0 {
        return Err(Violation::new(
            Code::FrameEmpty,
            "The frame has a payload of 0 bytes; a payload is a JSON object.",
        )
        .limit(1u64)
        .actual(0u64));
    }
    if declared as usize > FRAME_PAYLOAD {
        let violation = match raw.as_ref().and_then(|raw| as_text(raw)) {
            Some(text) => Violation::new(
                Code::FrameTooLarge,
                format!(
                    "The four header bytes read {text:?} as text. As a length they are {declared}; a frame has at most \
                     {FRAME_PAYLOAD} payload bytes."
                ),
            )
            .advise(TEXT_REMEDY),
            None => Violation::new(
                Code::FrameTooLarge,
                format!("A frame has at most {FRAME_PAYLOAD} payload bytes; this one has {declared}."),
            ),
        };
        return Err(violation.limit(FRAME_PAYLOAD).actual(declared));
    }
    Ok(())
}

/// What to do about text in the place of a header.
const TEXT_REMEDY: &str =
    "Write nothing but frames to standard output; other text belongs on standard error.";

/// The bytes as text, if that is what they look like. No length up to the bound does: it begins with a zero byte.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n')).then_some(text)
}

/// An incremental decoder: bytes in any fragmentation in, whole payloads out (P1-FRAME-06).
///
/// It refuses a length on the four header bytes, and reserves memory only as bytes arrive (P1-FRAME-02).
/// After a violation it stays broken and gives the same violation again.
///
/// ```
/// use modberth_protocol::frame::{Decoder, encode};
///
/// let bytes = encode(br#"{"a":1}"#)?;
/// let mut decoder = Decoder::new();
/// let mut rest = &bytes[..5];
/// assert_eq!(decoder.push(&mut rest)?, None);
/// let mut rest = &bytes[5..];
/// assert_eq!(decoder.push(&mut rest)?.as_deref(), Some(&br#"{"a":1}"#[..]));
/// decoder.end()?;
/// # Ok::<(), modberth_protocol::Violation>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    header: [u8; FRAME_HEADER],
    header_len: usize,
    payload: Vec<u8>,
    /// Declared length of the payload in hand; meaningful once the header is whole.
    declared: usize,
    /// Frames given out so far.
    frames: u32,
    broken: Option<Box<Violation>>,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes off the front of `input` until one frame is whole or the input is used up, and gives the frame's
    /// payload. Call it again while `input` is not empty.
    ///
    /// # Errors
    /// `frame.empty` or `frame.too_large`, as soon as the fourth header byte is there.
    pub fn push(&mut self, input: &mut &[u8]) -> Result<Option<Vec<u8>>, Violation> {
        if let Some(violation) = &self.broken {
            return Err((**violation).clone());
        }
        if self.header_len < FRAME_HEADER {
            let take = input.len().min(FRAME_HEADER - self.header_len);
            self.header[self.header_len..self.header_len + take].copy_from_slice(&input[..take]);
            self.header_len += take;
            *input = &input[take..];
            if self.header_len < FRAME_HEADER {
                return Ok(None);
            }
            let declared = u32::from_be_bytes(self.header);
            if let Err(violation) = check_length(declared, Some(self.header)) {
                let violation = violation.frame(self.frames + 1);
                self.broken = Some(Box::new(violation.clone()));
                return Err(violation);
            }
            self.declared = declared as usize;
            self.payload = Vec::with_capacity(self.declared.min(FIRST_RESERVE.max(input.len())));
        }
        let take = input.len().min(self.declared - self.payload.len());
        if self.payload.capacity() - self.payload.len() < take {
            // Doubling, but never past the declared length.
            let wanted = (self.payload.capacity() * 2).max(self.payload.len() + take).min(self.declared);
            self.payload.reserve_exact(wanted - self.payload.len());
        }
        self.payload.extend_from_slice(&input[..take]);
        *input = &input[take..];
        if self.payload.len() < self.declared {
            return Ok(None);
        }
        self.header_len = 0;
        self.frames += 1;
        Ok(Some(std::mem::take(&mut self.payload)))
    }

    /// How many whole frames it has given out.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// True between two frames: not one byte of the next frame has arrived.
    pub fn is_at_boundary(&self) -> bool {
        self.header_len == 0
    }

    /// How many bytes the rest of the header, or of the payload, needs. Never 0: a frame that is whole has been given out.
    pub fn wanted(&self) -> usize {
        if self.header_len < FRAME_HEADER {
            FRAME_HEADER - self.header_len
        } else {
            self.declared - self.payload.len()
        }
    }

    /// Bytes of memory it holds for the payload in hand.
    pub fn reserved_bytes(&self) -> usize {
        self.payload.capacity()
    }

    /// Says that the stream has ended.
    ///
    /// # Errors
    /// `frame.truncated` if it ended inside a frame (P1-FRAME-05), or the violation that broke the decoder before. An end
    /// between two frames is fine here; whether a frame is missing is for the session to say.
    pub fn end(&self) -> Result<(), Violation> {
        if let Some(violation) = &self.broken {
            return Err((**violation).clone());
        }
        if self.is_at_boundary() {
            return Ok(());
        }
        let violation = if self.header_len < FRAME_HEADER {
            let message =
                format!("The stream ended after {} of {FRAME_HEADER} header bytes", self.header_len);
            let violation = match as_text(&self.header[..self.header_len]) {
                Some(text) => {
                    Violation::new(Code::FrameTruncated, format!("{message}; they read {text:?} as text."))
                        .advise(TEXT_REMEDY)
                }
                None => Violation::new(Code::FrameTruncated, format!("{message}.")),
            };
            violation.limit(FRAME_HEADER).actual(self.header_len)
        } else {
            Violation::new(
                Code::FrameTruncated,
                format!("The stream ended after {} of {} payload bytes.", self.payload.len(), self.declared),
            )
            .limit(self.declared)
            .actual(self.payload.len())
        };
        Err(violation.frame(self.frames + 1))
    }
}
