//! Files that are not the module's, and files without end.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::attempt::{Ways, name};
use super::{Answer, Facts, Verdict, Wrong};

/// Bytes of files that a probe writes at most, and files that it makes at most.
const MOST_BYTES: u64 = 32 << 20;
const MOST_FILES: u64 = 4096;

fn read(path: impl AsRef<Path>) -> io::Result<usize> {
    let mut buffer = [0; 64];
    fs::File::open(path)?.read(&mut buffer)
}

/// Reads and writes the canary, reads what every machine has, and leaves the package upwards.
pub(super) fn machine(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let canary = facts.path("canary")?;
    let mut ways = Ways::default();
    ways.by("a file of the host", read(&canary));
    ways.by(
        "writing to it",
        fs::OpenOptions::new().append(true).open(&canary).and_then(|mut file| file.write(b"x")),
    );
    ways.by("/etc/passwd", read("/etc/passwd"));
    ways.by("/proc", fs::read_dir("/proc"));
    ways.by("/sys", fs::read_dir("/sys"));
    let beside = canary.file_name().map(|name| Path::new("..").join(name)).unwrap_or_default();
    ways.by("../ of the package", read(beside));
    let mut up = PathBuf::from("../".repeat(64));
    up.push("etc/passwd");
    ways.by("../../…/etc/passwd", read(up));
    Ok(ways.answer())
}

/// Writes to a file of the package that everybody may write to, makes one beside it, and one in the folder of the
/// machine's programs.
pub(super) fn read_only(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let (file, folder) = (facts.path("file")?, facts.path("folder")?);
    let mut ways = Ways::default();
    ways.by(
        "a file of the package",
        fs::OpenOptions::new().append(true).open(&file).and_then(|mut file| file.write(b"x")),
    );
    for (what, place) in [("a new file in the package", Path::new(".")), ("a new file in /usr", &folder)] {
        let place = place.join(format!("modberth-probe-{}", std::process::id()));
        let made = fs::File::create_new(&place);
        if made.is_ok() {
            // It is this probe's own.
            let _ = fs::remove_file(&place);
        }
        ways.by(what, made);
    }
    Ok(ways.answer())
}

/// Lists the root: the mounts show it, and only Landlock refuses it.
pub(super) fn root(_: &Facts<'_>) -> Result<Answer, Wrong> {
    let mut ways = Ways::default();
    ways.by("listing /", fs::read_dir("/"));
    Ok(ways.answer())
}

/// A folder of the probe's own, removed with what is in it.
struct Own(PathBuf);

impl Drop for Own {
    fn drop(&mut self) {
        // In a sandbox it goes with the scratch space anyway.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes `bytes` into small files, then makes `files` empty ones: twice what the scratch space is to hold.
pub(super) fn scratch(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    const PIECE: u64 = 256 << 10;
    let place = facts.path("scratch")?;
    let (bytes, files) = (facts.number("bytes", MOST_BYTES)?, facts.number("files", MOST_FILES)?);
    let own = Own(place.join(format!("modberth-probe-{}", std::process::id())));
    if let Err(error) = fs::create_dir(&own.0) {
        return Ok(Answer::new(Verdict::Unclear, format!("making {}: {}", own.0.display(), name(&error))));
    }
    let piece = vec![1u8; PIECE as usize];
    let mut written = 0;
    let full = (0..bytes.div_ceil(PIECE)).find_map(|number| {
        let came = fs::write(own.0.join(format!("bytes-{number}")), &piece);
        written += if came.is_ok() { PIECE } else { 0 };
        came.err()
    });
    let Some(full) = full else {
        return Ok(Answer::new(Verdict::GotThrough, format!("{written} bytes written")));
    };
    for number in 0..bytes.div_ceil(PIECE) {
        // Not all of them were made.
        let _ = fs::remove_file(own.0.join(format!("bytes-{number}")));
    }
    let mut made = 0;
    let end = (0..files).find_map(|number| {
        let came = fs::File::create_new(own.0.join(format!("file-{number}")));
        made += u64::from(came.is_ok());
        came.err()
    });
    Ok(match end {
        None => Answer::new(Verdict::GotThrough, format!("{made} files made")),
        Some(end) => Answer::new(
            Verdict::Stopped,
            format!("{} after {written} bytes, {} after {made} files", name(&full), name(&end)),
        ),
    })
}
