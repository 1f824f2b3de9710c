"""The process: its standard streams, its diagnostic and its end."""

import posix
import sys

from ._codes import OUTPUT_HANDLER_FAILED, PROCESS_IO, PROCESS_MEMORY
from ._errors import ModberthError
from ._exchange import exchange
from ._limits import MAX_DIAGNOSTIC
from ._text import escaped, shortened
from ._trace import write_trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ._exchange import Handler

# `posix` and not `os`: the same calls, already there, while `os` costs a fifth of the interpreter's start.


def serve(handler: "Handler") -> "NoReturn":
    """Do the one exchange of this process with `handler`, and end the process.

    `handler` is called once with the whole checked request, a dict with version, type, id, action, targets
    and parameters, and returns the full list of results, `{"target": …, "data": …}` or `{"target": …,
    "error": {"code": …, "message": …}}` for each target in any order.

    Before anything else standard output is taken away: what the handler, a library or a child process
    prints goes to standard error, and only frames go to the host (P1-SDK-06).

    The process ends with status 0 after both frames are written. It ends with status 1, nothing written,
    and one last line `modberth: CODE: TEXT` on standard error where the input is no request, the handler
    raises, or its results are not what the host takes (P1-SDK-07). Standard error and output are flushed
    first. The interpreter is then left at once, without its tear-down, which would be a fifth of its life;
    if `atexit`, `threading` or `ctypes` has been imported it ends the usual way, so that exit handlers run,
    threads are awaited, and what C code has printed is flushed.
    """
    status = 1
    try:
        output = _take_output()
        frames = exchange(_read_input, handler)
        _write_all(output, frames)
        status = 0
    except ModberthError as error:
        _complain(error.code, error.message)
    except OSError as error:
        _complain(PROCESS_IO, f"standard input or output failed: {shortened(error)}")
    except MemoryError:
        _complain(PROCESS_MEMORY, "there was no memory left for the request or its results")
    except BaseException as error:
        write_trace(error)
        _complain(OUTPUT_HANDLER_FAILED, f"the run was ended by {type(error).__name__}: {shortened(error)}")
    _leave(status)


def _take_output() -> int:
    """A private copy of standard output; descriptor 1 and `print` are standard error from here on."""
    # With one of the three closed, the copy would take its number, and its traffic the frames' way.
    for stream in (0, 2):
        posix.fstat(stream)
    output = posix.dup(1)
    posix.dup2(2, 1)
    sys.stdout = sys.stderr
    return output


def _read_input(length: int) -> bytes:
    try:
        return posix.read(0, length)
    except BlockingIOError:
        # The other end of an inherited stream may have made it non-blocking.
        posix.set_blocking(0, True)
        return posix.read(0, length)


def _write_all(output: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[posix.write(output, view) :]
        except BlockingIOError:
            posix.set_blocking(output, True)


def _complain(code: str, message: str) -> None:
    """The one line that says why: bounded, on one line, after everything printed before."""
    _flush()
    line = f"modberth: {code}: {escaped(message)}".encode("utf-8", "backslashreplace")
    if len(line) >= MAX_DIAGNOSTIC:
        line = line[: MAX_DIAGNOSTIC - 4].decode(errors="ignore").encode() + "…".encode()
    try:
        _write_all(2, line + b"\n")
    except OSError:
        # There is nobody to tell; the exit status says enough.
        pass


def _flush() -> None:
    for stream in (sys.__stdout__, sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass


def _leave(status: int) -> "NoReturn":
    _flush()
    if "atexit" in sys.modules or "threading" in sys.modules or "ctypes" in sys.modules:
        raise SystemExit(status)
    posix._exit(status)
