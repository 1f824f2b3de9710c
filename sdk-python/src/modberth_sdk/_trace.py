"""What the SDK tells the author on standard error while the run goes on, bounded: traces, and a hint."""

import sys

from ._limits import MAX_ACTIONS, MAX_TRACE, MAX_TRACES
from ._text import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType

_CUT = b"\n  ... cut ...\n"


class _Room:
    left = MAX_TRACES


def open_traces() -> None:
    """Give a run its room for traces."""
    _Room.left = MAX_TRACES


def write_trace(error: BaseException, target: "str | None" = None) -> None:
    """Write the trace of `error`, from the author's code on, as far as there is room.

    With `target`, a line before it names the target that failed.
    The host ends an action that writes too much to standard error, so a batch of 64 failing targets must
    not; the beginning and the end of a long trace are kept.
    """
    if _Room.left <= 0 or sys.stderr is None:
        return
    import traceback

    inner = error.__traceback__
    while inner is not None and inner.tb_next is not None and _is_own(inner):
        inner = inner.tb_next
    lines = traceback.format_exception(type(error), error, inner)
    if target is not None:
        lines.insert(0, f"target {quoted(target)}:\n")
    trace = "".join(lines).encode("utf-8", "backslashreplace")
    if len(trace) > MAX_TRACE:
        part = (MAX_TRACE - len(_CUT)) // 2
        trace = trace[:part] + _CUT + trace[-part:]
    _Room.left -= len(trace)
    text = trace.decode("utf-8", "replace")
    if _Room.left <= 0:
        text += "The traces of further failures are left out.\n"
    _write(text)


def write_unknown_action(action: str, names: "Collection[str]") -> None:
    """Name the actions there are, on one line, for the author who misspelt one. All are identifiers."""
    line = f'action "{action}": not in this module; {"its actions: " if names else "it has no actions"}'
    before = ""
    for index, name in enumerate(names):
        if len(line) + len(before) + len(name) > MAX_ACTIONS:
            line += f" and {len(names) - index} more"
            break
        line += before + name
        before = ", "
    _write(line + "\n")


def _write(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        # Whoever closed standard error does not want to read it.
        pass


def _is_own(trace: "TracebackType") -> bool:
    """Whether this is a frame of the SDK."""
    name: str = trace.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "modberth_sdk"
