//! What the numbers were measured on: processor, cores and kernel, and nothing that names a person or a host.

use std::fs;

/// One line such as `4 cores (Some CPU), Linux 6.1.0, x86_64`.
pub(crate) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| "unnamed processor".to_owned());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores ({model}), Linux {}, {}", kernel.trim(), std::env::consts::ARCH)
}
