//! Standard output taken away from everything but the SDK, and standard streams that may be nonblocking.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
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

/// A stream that waits where it is told to come again later: whoever shares a standard stream with the module may have
/// made it nonblocking.
pub(crate) struct Patient<T>(pub(crate) T);

impl<T: AsFd> Patient<T> {
    /// Repeats a call until the stream takes it. The host's deadline bounds the wait.
    fn until_done<R>(
        &mut self,
        ready: PollFlags,
        mut call: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            match call(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            match poll(&mut [PollFd::new(&self.0, ready)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<T: Read + AsFd> Read for Patient<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until_done(PollFlags::IN, |stream| stream.read(buffer))
    }
}

impl<T: Write + AsFd> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until_done(PollFlags::OUT, |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::ioctl_fionbio;

    // P1-FRAME-06: nonblocking streams carry the same bytes.
    #[test]
    fn nonblocking_streams_are_waited_for() {
        let (reader, writer) = io::pipe().expect("a pipe");
        ioctl_fionbio(&reader, true).expect("a nonblocking end");
        ioctl_fionbio(&writer, true).expect("a nonblocking end");
        // More than a pipe holds, so both ends have to wait.
        let sent: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        let bytes = sent.clone();
        let writing = std::thread::spawn(move || Patient(writer).write_all(&bytes));
        let mut read = Vec::new();
        Patient(reader).read_to_end(&mut read).expect("all bytes");
        writing.join().expect("no panic").expect("all bytes");
        assert_eq!(read, sent);
    }
}
