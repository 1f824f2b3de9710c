//! One attempt at something, and what came of it.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What came of a behaviour.
pub(crate) enum Verdict {
    /// Nothing was reached. The first word says how it was stopped.
    Stopped(String),
    /// Something was.
    Through(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(how) => write!(f, "stopped {how}"),
            Self::Through(by) => write!(f, "got-through {by}"),
        }
    }
}

/// Why an attempt failed: the name of an error number or of a signal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Refusal(String);

impl Refusal {
    /// The name of an error number.
    pub(crate) fn errno(number: i32) -> Self {
        const NAMES: &[(i32, &str)] = &[
            (libc::EPERM, "EPERM"),
            (libc::ENOENT, "ENOENT"),
            (libc::ESRCH, "ESRCH"),
            (libc::EIO, "EIO"),
            (libc::ENXIO, "ENXIO"),
            (libc::E2BIG, "E2BIG"),
            (libc::ENOEXEC, "ENOEXEC"),
            (libc::EBADF, "EBADF"),
            (libc::ECHILD, "ECHILD"),
            (libc::EAGAIN, "EAGAIN"),
            (libc::ENOMEM, "ENOMEM"),
            (libc::EACCES, "EACCES"),
            (libc::EFAULT, "EFAULT"),
            (libc::EBUSY, "EBUSY"),
            (libc::EEXIST, "EEXIST"),
            (libc::EXDEV, "EXDEV"),
            (libc::ENODEV, "ENODEV"),
            (libc::ENOTDIR, "ENOTDIR"),
            (libc::EISDIR, "EISDIR"),
            (libc::EINVAL, "EINVAL"),
            (libc::EMFILE, "EMFILE"),
            (libc::ENOTTY, "ENOTTY"),
            (libc::EFBIG, "EFBIG"),
            (libc::ENOSPC, "ENOSPC"),
            (libc::EROFS, "EROFS"),
            (libc::ENAMETOOLONG, "ENAMETOOLONG"),
            (libc::ENOSYS, "ENOSYS"),
            (libc::ELOOP, "ELOOP"),
            (libc::ENOPKG, "ENOPKG"),
            (libc::EOPNOTSUPP, "EOPNOTSUPP"),
            (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
            (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
            (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
            (libc::ECONNREFUSED, "ECONNREFUSED"),
            (libc::ENETUNREACH, "ENETUNREACH"),
            (libc::ETOOMANYREFS, "ETOOMANYREFS"),
            (libc::EDQUOT, "EDQUOT"),
            (libc::ENOKEY, "ENOKEY"),
            (libc::ESPIPE, "ESPIPE"),
        ];
        let name = NAMES.iter().find(|(known, _)| *known == number);
        Self(name.map_or_else(|| format!("E{number}"), |(_, name)| (*name).to_owned()))
    }

    /// The error number that the last call of libc left.
    pub(crate) fn last() -> Self {
        io::Error::last_os_error().into()
    }

    /// In other words than the machine's.
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => Self::errno(number),
            None => Self(error.kind().to_string().replace(' ', "-")),
        }
    }
}

/// What the machine answered: a number, or why not.
pub(crate) type Answer = Result<usize, Refusal>;

/// One system call.
pub(crate) fn call<const N: usize>(number: libc::c_long, arguments: [usize; N]) -> Answer {
    let mut all = [0; 6];
    all.iter_mut().zip(arguments).for_each(|(place, argument)| *place = argument);
    let [a, b, c, d, e, f] = all;
    // SAFETY: every caller passes pointers to live memory of the right size, or none.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    usize::try_from(answer).map_err(|_| Refusal::last())
}

/// The address of something, for [`call`].
pub(crate) fn at<T: ?Sized>(place: &T) -> usize {
    std::ptr::from_ref(place).cast::<u8>() as usize
}

/// The address of something that the kernel writes to, for [`call`].
pub(crate) fn into<T: ?Sized>(place: &mut T) -> usize {
    std::ptr::from_mut(place).cast::<u8>() as usize
}

/// A path for [`call`]. None of them holds NUL.
pub(crate) fn text(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap_or_default()
}

/// Several ways to one end, tried one after the other.
#[derive(Default)]
pub(crate) struct Ways {
    open: Vec<String>,
    refused: Vec<(String, Refusal)>,
}

impl Ways {
    /// Tries a way.
    pub(crate) fn by<T>(mut self, name: impl Into<String>, way: impl FnOnce() -> Result<T, Refusal>) -> Self {
        match way() {
            Ok(_) => self.open.push(name.into()),
            Err(refusal) => self.refused.push((name.into(), refusal)),
        }
        self
    }

    /// Tries all of a list.
    pub(crate) fn each<N: Into<String>, T>(
        self,
        names: impl IntoIterator<Item = N>,
        way: impl Fn(&str) -> Result<T, Refusal>,
    ) -> Self {
        names.into_iter().map(Into::into).fold(self, |ways: Self, name: String| {
            let answer = way(&name);
            ways.by(name, || answer)
        })
    }

    /// Stopped where no way led anywhere.
    pub(crate) fn verdict(self) -> Verdict {
        if !self.open.is_empty() {
            return Verdict::Through(self.open.join(", "));
        }
        let mut kinds: Vec<String> = self.refused.iter().map(|(_, refusal)| refusal.to_string()).collect();
        kinds.sort();
        kinds.dedup();
        let each: Vec<String> =
            self.refused.iter().map(|(name, refusal)| format!("{name}: {refusal}")).collect();
        Verdict::Stopped(format!("{} {}", kinds.join("+"), each.join(", ")))
    }
}

/// Tries one way.
pub(crate) fn only<T>(name: &str, way: impl FnOnce() -> Result<T, Refusal>) -> Verdict {
    Ways::default().by(name, way).verdict()
}

/// What a behaviour that counts came to: stopped by `refusal` after `got`, or through with all of it.
pub(crate) fn counted(got: u64, refusal: Option<Refusal>) -> Verdict {
    match refusal {
        Some(refusal) => Verdict::Stopped(format!("{refusal} {got}")),
        None => Verdict::Through(got.to_string()),
    }
}

/// Splits the process. Called while it has one thread only.
pub(crate) fn fork() -> libc::pid_t {
    // SAFETY: see above.
    unsafe { libc::fork() }
}

/// Ends this process without what Rust or libc do at an end: for children.
pub(crate) fn leave(status: i32) -> ! {
    // SAFETY: ends this process.
    unsafe { libc::_exit(status) }
}

/// Ends this process once what it has printed is out.
pub(crate) fn leave_flushed() -> ! {
    std::process::exit(0)
}

/// Runs something in a child. Its answer passes as the child's exit status, so error numbers have to be below 200.
pub(crate) fn in_child(work: impl FnOnce() -> Answer) -> Answer {
    const DONE: i32 = 0;
    match fork() {
        -1 => Err(Refusal::last()),
        0 => {
            let status = match work() {
                Ok(_) => DONE,
                // The name is made again from the number on the other side.
                Err(refusal) => (1..200).find(|number| Refusal::errno(*number) == refusal).unwrap_or(200),
            };
            leave(status)
        }
        child => reap(child),
    }
}

/// Waits for a child: fine when its status is 0; the error number that its status is; or its signal.
pub(crate) fn reap(child: libc::pid_t) -> Answer {
    let status = wait(child)?;
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        let name = match signal {
            libc::SIGSYS => "SIGSYS".to_owned(),
            libc::SIGKILL => "SIGKILL".to_owned(),
            libc::SIGSEGV => "SIGSEGV".to_owned(),
            libc::SIGXFSZ => "SIGXFSZ".to_owned(),
            other => format!("SIG{other}"),
        };
        return Err(Refusal::other(name));
    }
    match libc::WEXITSTATUS(status) {
        0 => Ok(0),
        number => Err(Refusal::errno(number)),
    }
}

/// Waits for a child and gives its raw status.
pub(crate) fn wait(child: libc::pid_t) -> Result<i32, Refusal> {
    let mut status = 0;
    // SAFETY: fills the number.
    match unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) } {
        -1 => Err(Refusal::last()),
        _ => Ok(status),
    }
}

/// Kills and reaps children.
pub(crate) fn end(children: &[libc::pid_t]) {
    for child in children {
        // SAFETY: a child of this process that nobody has waited for.
        unsafe { libc::kill(*child, libc::SIGKILL) };
        let _ = wait(*child);
    }
}

/// Runs a program in a child and waits for it.
pub(crate) fn runs(words: &[&Path]) -> Answer {
    let words: Vec<CString> = words.iter().map(text).collect();
    in_child(|| {
        let mut line: Vec<usize> = words.iter().map(|word| word.as_ptr() as usize).collect();
        line.push(0);
        let environment = [0usize];
        let program = line.first().copied().unwrap_or(0);
        call(libc::SYS_execve, [program, line.as_ptr() as usize, environment.as_ptr() as usize])
    })
}
