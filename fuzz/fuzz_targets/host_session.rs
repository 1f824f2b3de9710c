//! A module's whole output against the host's session: whole and in pieces the same verdict, and what is accepted keeps every rule.

#![no_main]

use libfuzzer_sys::fuzz_target;
use modberth_protocol::frame::encode_into;
use modberth_protocol::json::{Profile, RawJson, check};
use modberth_protocol::process::{Exit, HostSession, Request};

const HELLO: &[u8] = br#"{"version":1,"type":"hello","protocol":1}"#;

fn session() -> HostSession {
    let targets = ["a", "b", "é"].map(str::to_owned).to_vec();
    let request = Request::new("r1", "echo", targets, RawJson::empty_object()).expect("a legal request");
    HostSession::new(request)
}

fn judge(output: &[u8], step: usize) -> Result<Vec<u8>, (modberth_protocol::Code, Option<u32>, Option<u64>)> {
    let mut session = session();
    for piece in output.chunks(step) {
        // The verdict comes at the end.
        let _ = session.output(piece);
    }
    match session.finish(Exit::Code(0)) {
        Ok(results) => {
            assert_eq!(
                results.results.iter().map(|row| row.target.as_str()).collect::<Vec<_>>(),
                ["a", "b", "é"]
            );
            Ok(results.to_json())
        }
        Err(failure) => {
            assert!(failure.notes.is_empty());
            let place = &failure.violation.place;
            Err((failure.violation.code, place.frame, place.offset))
        }
    }
}

fuzz_target!(|input: (Option<Vec<u8>>, Vec<u8>, u8)| {
    let (hello, rest, step) = input;
    let mut output = Vec::new();
    // Either a stream of anything, or a right hello and any result payload, which goes deeper.
    match hello {
        Some(stream) => output.extend(stream.iter().chain(&rest)),
        None => {
            encode_into(HELLO, &mut output).expect("it fits");
            if encode_into(&rest, &mut output).is_err() {
                return;
            }
        }
    }
    let whole = judge(&output, output.len().max(1));
    assert_eq!(judge(&output, usize::from(step) + 1), whole);
    if let Ok(answer) = whole {
        // The answer adds no level and no name, so it keeps the profile too.
        check(&answer, &Profile::PROCESS).expect("an accepted result keeps every rule");
    }
});
