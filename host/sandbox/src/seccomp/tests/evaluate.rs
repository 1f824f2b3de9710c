//! Classic BPF as the kernel runs it, for the instructions that filters consist of.

use super::Call;

/// Runs a filter. What the kernel would refuse to load is a panic.
pub(super) fn run(filter: &[libc::sock_filter], call: Call) -> u32 {
    let data = seccomp_data(call);
    let (mut a, mut x) = (0_u32, 0_u32);
    let mut at = 0;
    // Jumps go forward only, so this ends.
    loop {
        let instruction = &filter[at];
        at += 1;
        let k = instruction.k;
        let jump = |condition: bool| usize::from(if condition { instruction.jt } else { instruction.jf });
        match instruction.code {
            // ld [k]
            0x20 => {
                let offset = k as usize;
                assert_eq!(offset % 4, 0, "the kernel refuses unaligned loads");
                a = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
            }
            // ld #k
            0x00 => a = k,
            // tax, txa
            0x07 => x = a,
            0x87 => a = x,
            // and #k
            0x54 => a &= k,
            // lsh x
            0x6c => a = a.checked_shl(x).unwrap_or(0),
            // jeq, jge, jset
            0x15 => at += jump(a == k),
            0x35 => at += jump(a >= k),
            0x45 => at += jump(a & k != 0),
            // ja
            0x05 => at += k as usize,
            // jgt: libseccomp uses it
            0x25 => at += jump(a > k),
            // ret #k
            0x06 => return k,
            code => panic!("instruction {} has the unknown code {code:#x}", at - 1),
        }
    }
}

/// `struct seccomp_data`: number, architecture, instruction pointer, six arguments.
fn seccomp_data(call: Call) -> [u8; 64] {
    let mut data = [0; 64];
    data[..4].copy_from_slice(&call.number.to_le_bytes());
    data[4..8].copy_from_slice(&call.audit.to_le_bytes());
    for (at, argument) in call.arguments.iter().enumerate() {
        data[16 + 8 * at..24 + 8 * at].copy_from_slice(&argument.to_le_bytes());
    }
    data
}
