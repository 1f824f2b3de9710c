//! Small ELF files, field by field.

/// The parts of an ELF file that the admission looks at.
#[derive(Clone)]
pub struct Elf {
    pub ident: [u8; 8],
    pub kind: u16,
    pub machine: u16,
    pub version: u32,
    pub header_size: u16,
    pub entry_size: u16,
    pub offset: u64,
    pub headers: Vec<(u32, u64, u64)>,
    pub count: Option<u16>,
    pub tail: Vec<u8>,
}

pub const LOAD: u32 = 1;
pub const INTERP: u32 = 3;
pub const X86_64: u16 = 62;
pub const AARCH64: u16 = 183;

impl Elf {
    /// A static program for x86_64.
    pub fn new() -> Self {
        Self {
            ident: [0x7f, b'E', b'L', b'F', 2, 1, 1, 0],
            kind: 2,
            machine: X86_64,
            version: 1,
            header_size: 64,
            entry_size: 56,
            offset: 64,
            headers: vec![(LOAD, 0, 0)],
            count: None,
            tail: Vec::new(),
        }
    }

    /// A program that asks for a loader.
    pub fn with_loader(name: &[u8]) -> Self {
        let mut elf = Self::new();
        elf.tail = name.to_vec();
        elf.headers.push((INTERP, 64 + 2 * 56, name.len() as u64));
        elf
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.ident.to_vec();
        out.resize(16, 0);
        out.extend(self.kind.to_le_bytes());
        out.extend(self.machine.to_le_bytes());
        out.extend(self.version.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend(self.offset.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        out.extend(self.header_size.to_le_bytes());
        out.extend(self.entry_size.to_le_bytes());
        out.extend(self.count.unwrap_or(self.headers.len() as u16).to_le_bytes());
        out.extend([0; 6]);
        for (kind, offset, size) in &self.headers {
            out.extend(kind.to_le_bytes());
            out.extend(5_u32.to_le_bytes());
            out.extend(offset.to_le_bytes());
            out.extend([0; 16]);
            out.extend(size.to_le_bytes());
            out.extend(size.to_le_bytes());
            out.extend(0_u64.to_le_bytes());
        }
        out.extend(&self.tail);
        out
    }
}
