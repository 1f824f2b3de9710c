//! ZIP archives written field by field, so that each field can be wrong.

use std::io::Write as _;

/// One member with everything that its headers say.
#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    /// What stands in the archive.
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub version: u16,
    pub crc: u32,
    pub packed: u32,
    pub size: u32,
    pub mode: u32,
    pub dos: u32,
    pub disk: u16,
    pub extra: Vec<u8>,
    pub comment: Vec<u8>,
    /// Overrides of the local header.
    pub local_name: Option<Vec<u8>>,
    pub local_method: Option<u16>,
    pub local_flags: Option<u16>,
    pub local_crc: Option<u32>,
    pub local_packed: Option<u32>,
    pub local_size: Option<u32>,
    pub local_extra: Vec<u8>,
    pub local_offset: Option<u32>,
    /// Bytes behind the data: a data descriptor, or nothing anybody owns.
    pub after: Vec<u8>,
    /// False: only the central directory has it.
    pub local: bool,
}

impl Entry {
    pub fn stored(name: &str, bytes: &[u8]) -> Self {
        let size = bytes.len() as u32;
        Self {
            name: name.as_bytes().to_vec(),
            data: bytes.to_vec(),
            method: 0,
            flags: 0,
            version: 20,
            crc: crc(bytes),
            packed: size,
            size,
            mode: 0o100_644,
            dos: 0,
            disk: 0,
            extra: Vec::new(),
            comment: Vec::new(),
            local_name: None,
            local_method: None,
            local_flags: None,
            local_crc: None,
            local_packed: None,
            local_size: None,
            local_extra: Vec::new(),
            local_offset: None,
            after: Vec::new(),
            local: true,
        }
    }

    pub fn deflated(name: &str, bytes: &[u8]) -> Self {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        let data = encoder.finish().unwrap();
        Self { method: 8, packed: data.len() as u32, data, ..Self::stored(name, bytes) }
    }

    /// A member written by a streaming tool: the local header says nothing, a descriptor follows.
    pub fn streamed(name: &str, bytes: &[u8], signature: bool) -> Self {
        let mut entry = Self::deflated(name, bytes);
        entry.flags = 1 << 3;
        (entry.local_crc, entry.local_packed, entry.local_size) = (Some(0), Some(0), Some(0));
        if signature {
            entry.after.extend(b"PK\x07\x08");
        }
        for value in [entry.crc, entry.packed, entry.size] {
            entry.after.extend(value.to_le_bytes());
        }
        entry
    }
}

pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A whole archive.
#[derive(Clone, Default)]
pub struct Zip {
    pub prefix: Vec<u8>,
    pub entries: Vec<Entry>,
    /// Between the last member and the central directory.
    pub before_directory: Vec<u8>,
    /// Between the central directory and the end record.
    pub before_end: Vec<u8>,
    pub comment: Vec<u8>,
    pub after: Vec<u8>,
    pub disk: u16,
    pub count: Option<u16>,
    pub directory_size: Option<u32>,
    pub directory_offset: Option<u32>,
}

impl Zip {
    pub fn of(entries: Vec<Entry>) -> Self {
        Self { entries, ..Self::default() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let mut central = Vec::new();
        for entry in &self.entries {
            let offset = entry.local_offset.unwrap_or(out.len() as u32);
            if entry.local {
                let name = entry.local_name.as_ref().unwrap_or(&entry.name);
                out.extend(b"PK\x03\x04");
                out.extend(entry.version.to_le_bytes());
                out.extend(entry.local_flags.unwrap_or(entry.flags).to_le_bytes());
                out.extend(entry.local_method.unwrap_or(entry.method).to_le_bytes());
                out.extend([0, 0, 0x21, 0]);
                out.extend(entry.local_crc.unwrap_or(entry.crc).to_le_bytes());
                out.extend(entry.local_packed.unwrap_or(entry.packed).to_le_bytes());
                out.extend(entry.local_size.unwrap_or(entry.size).to_le_bytes());
                out.extend((name.len() as u16).to_le_bytes());
                out.extend((entry.local_extra.len() as u16).to_le_bytes());
                out.extend(name);
                out.extend(&entry.local_extra);
                out.extend(&entry.data);
                out.extend(&entry.after);
            }
            central.extend(b"PK\x01\x02");
            central.extend([20, 3]);
            central.extend(entry.version.to_le_bytes());
            central.extend(entry.flags.to_le_bytes());
            central.extend(entry.method.to_le_bytes());
            central.extend([0, 0, 0x21, 0]);
            central.extend(entry.crc.to_le_bytes());
            central.extend(entry.packed.to_le_bytes());
            central.extend(entry.size.to_le_bytes());
            central.extend((entry.name.len() as u16).to_le_bytes());
            central.extend((entry.extra.len() as u16).to_le_bytes());
            central.extend((entry.comment.len() as u16).to_le_bytes());
            central.extend(entry.disk.to_le_bytes());
            central.extend([0, 0]);
            central.extend((entry.mode << 16 | entry.dos).to_le_bytes());
            central.extend(offset.to_le_bytes());
            central.extend(&entry.name);
            central.extend(&entry.extra);
            central.extend(&entry.comment);
        }
        out.extend(&self.before_directory);
        let offset = out.len() as u32;
        let size = central.len() as u32;
        out.extend(central);
        out.extend(&self.before_end);
        let count = self.count.unwrap_or(self.entries.len() as u16);
        out.extend(b"PK\x05\x06");
        out.extend(self.disk.to_le_bytes());
        out.extend(self.disk.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(self.directory_size.unwrap_or(size).to_le_bytes());
        out.extend(self.directory_offset.unwrap_or(offset).to_le_bytes());
        out.extend((self.comment.len() as u16).to_le_bytes());
        out.extend(&self.comment);
        out.extend(&self.after);
        out
    }
}
