//! Several ways to the same end, and what came of each.

use std::io;

use super::{Answer, Verdict};

/// Names of the error numbers that probes meet; others are told as a number.
const NAMES: [(i32, &str); 22] = [
    (libc::EACCES, "EACCES"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::EFAULT, "EFAULT"),
    (libc::EFBIG, "EFBIG"),
    (libc::EINVAL, "EINVAL"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOENT, "ENOENT"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EPERM, "EPERM"),
    (libc::EROFS, "EROFS"),
    (libc::ESRCH, "ESRCH"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ETXTBSY, "ETXTBSY"),
];

/// The name of what an error says.
pub(super) fn name(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => NAMES
            .iter()
            .find(|(known, _)| *known == number)
            .map_or_else(|| format!("error {number}"), |(_, name)| (*name).to_owned()),
        None => error.to_string(),
    }
}

/// What a raw system call answered.
pub(super) fn answered(answer: isize) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::from_raw_os_error(-answer as i32))
}

/// Ways that were tried.
#[derive(Default)]
pub(super) struct Ways {
    open: Vec<String>,
    closed: Vec<(String, Vec<String>)>,
}

impl Ways {
    /// Notes what came of one. It led somewhere if it is no error.
    pub(super) fn by<T>(&mut self, way: impl Into<String>, came: io::Result<T>) {
        match came {
            Ok(_) => self.open.push(way.into()),
            Err(error) => {
                let how = name(&error);
                match self.closed.iter_mut().find(|(known, _)| *known == how) {
                    Some((_, ways)) => ways.push(way.into()),
                    None => self.closed.push((how, vec![way.into()])),
                }
            }
        }
    }

    /// Stopped where no way led anywhere.
    pub(super) fn answer(self) -> Answer {
        if !self.open.is_empty() {
            return Answer::new(Verdict::GotThrough, self.open.join(", "));
        }
        let closed: Vec<String> =
            self.closed.iter().map(|(how, ways)| format!("{how} ({})", ways.join(", "))).collect();
        if closed.is_empty() {
            return Answer::new(Verdict::Unclear, "nothing was tried");
        }
        Answer::new(Verdict::Stopped, closed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_open_way_is_through() {
        let refused = || Err::<(), _>(io::Error::from_raw_os_error(libc::EPERM));
        let mut ways = Ways::default();
        ways.by("a", refused());
        ways.by("b", refused());
        ways.by("c", Err::<(), _>(io::Error::from_raw_os_error(4000)));
        assert_eq!(ways.answer(), Answer::new(Verdict::Stopped, "EPERM (a, b), error 4000 (c)"));
        let mut ways = Ways::default();
        ways.by("a", refused());
        ways.by("b", Ok(()));
        assert_eq!(ways.answer(), Answer::new(Verdict::GotThrough, "b"));
        assert_eq!(Ways::default().answer().verdict, Verdict::Unclear);
    }
}
