//! Standard output taken away from everything but the SDK.

use std::fs::File;
use std::io;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::dup2_stdout;

/// Lowest number for the private descriptor: behind the three standard streams.
const FIRST_PRIVATE: i32 = 3;

/// Gives the frames a private duplicate of standard output, and points standard output itself at standard error.
///
/// From here on `println!`, `printf` in a C library and a child process all write to standard error (P1-SDK-06). The
/// duplicate is closed in children, so none of them can write a frame or hold the output open.
pub(crate) fn take_stdout() -> io::Result<File> {
    let frames = fcntl_dupfd_cloexec(io::stdout(), FIRST_PRIVATE)?;
    dup2_stdout(io::stderr())?;
    Ok(File::from(frames))
}
