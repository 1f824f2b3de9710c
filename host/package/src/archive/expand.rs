//! The bytes of members: stored or deflated, never more than the structure declares.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use modberth_protocol::{Code, Violation};

use super::Contents;
use super::entry::Method;
use super::structure::Member;

/// Reads every member. The structure has bounded the declared sizes already.
pub(super) fn expand(archive: &[u8], members: &[Member]) -> Result<Contents, Violation> {
    let mut contents = Contents::new();
    for member in members {
        let data = archive
            .get(member.data.clone())
            .ok_or_else(|| damaged(member, "lies outside the archive".to_owned()))?;
        let bytes = match member.method {
            Method::Stored => data.to_vec(),
            Method::Deflated => inflate(member, data)?,
        };
        let mut crc = Crc::new();
        crc.update(&bytes);
        if crc.sum() != member.crc {
            return Err(damaged(
                member,
                format!("has the checksum {:08x}; the archive states {:08x}", crc.sum(), member.crc),
            ));
        }
        contents.insert(member.path.clone(), bytes);
    }
    Ok(contents)
}

fn damaged(member: &Member, what: String) -> Violation {
    Violation::new(Code::PackageArchiveData, format!("This member {what}.")).file(&member.path)
}

/// Inflates exactly the declared number of bytes; one byte of room more shows whether there would be another.
fn inflate(member: &Member, data: &[u8]) -> Result<Vec<u8>, Violation> {
    let mut bytes = Vec::with_capacity(member.size + 1);
    let mut stream = Decompress::new(false);
    loop {
        let read = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        let before = (stream.total_in(), stream.total_out());
        let rest = data.get(read..).unwrap_or_default();
        let status = stream
            .decompress_vec(rest, &mut bytes, FlushDecompress::Finish)
            .map_err(|error| damaged(member, format!("does not inflate: {error}")))?;
        if bytes.len() > member.size {
            return Err(damaged(member, format!("inflates to more than the declared {} bytes", member.size))
                .limit(member.size)
                .actual(bytes.len()));
        }
        if status == Status::StreamEnd {
            break;
        }
        if (stream.total_in(), stream.total_out()) == before {
            return Err(damaged(member, "ends inside its compressed data".to_owned()));
        }
    }
    if bytes.len() < member.size {
        return Err(damaged(
            member,
            format!("inflates to {} bytes; the archive states {}", bytes.len(), member.size),
        )
        .limit(member.size)
        .actual(bytes.len()));
    }
    if stream.total_in() != u64::try_from(data.len()).unwrap_or(u64::MAX) {
        return Err(damaged(member, "has bytes after its compressed data".to_owned()));
    }
    Ok(bytes)
}
