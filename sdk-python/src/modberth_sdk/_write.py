"""Writing a value: checked first, because an encoder alone writes things the host refuses."""

from ._codes import (
    FRAME_TOO_LARGE,
    JSON_DEPTH,
    JSON_ENTRIES,
    JSON_INTEGER_RANGE,
    JSON_NAME_LENGTH,
    JSON_NONFINITE,
    JSON_NUL,
    JSON_RESERVED_KEY,
    JSON_STRING_LENGTH,
    JSON_SURROGATE,
    OUTPUT_VALUE,
)
from ._limits import MAX_DEPTH, MAX_ENTRIES, MAX_FRAME, MAX_INTEGER, MAX_NAME, MAX_STRING, RESERVED_NAME
from ._text import has_surrogate, kind_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class Misfit(Exception):
    """A value that cannot be sent: `code`, the way to it from outside inwards, and why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason
        self.path = ""


def check_value(value: "Any", depth: int, room: int = MAX_FRAME) -> int:
    """Raise a Misfit where `value`, standing at `depth` of the frame, cannot be sent.

    Only None, bool, int, float, str, list, tuple and dict with str keys are values, each exactly: a
    subclass may mean more than JSON can say. `room` is the bytes that the frame has left; what is left
    afterwards is returned. A value is counted with the fewest bytes it can take, so nothing that fits is
    refused, and a small value that stands in itself a million times over is refused soon.
    """
    if depth > MAX_DEPTH:
        raise Misfit(JSON_DEPTH, f"stands at depth {depth} of the frame, the limit is {MAX_DEPTH}")
    kind = type(value)
    room -= 1
    if kind is str:
        room -= 1 + check_text(value, MAX_STRING, JSON_STRING_LENGTH)
    elif kind is dict or kind is list or kind is tuple:
        if len(value) > MAX_ENTRIES:
            raise Misfit(JSON_ENTRIES, f"has {len(value)} entries, the limit is {MAX_ENTRIES}")
        room = _check_members(value, depth, room) if kind is dict else _check_elements(value, depth, room)
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise Misfit(JSON_INTEGER_RANGE, f"is a whole number outside plus or minus {MAX_INTEGER}")
    elif kind is float:
        if value - value != 0.0:
            raise Misfit(JSON_NONFINITE, f"is {value}, which JSON has no form for")
    elif value is not None and kind is not bool:
        raise Misfit(OUTPUT_VALUE, f"is {kind_of(value)}, not plain JSON")
    if room < 0:
        raise Misfit(FRAME_TOO_LARGE, f"takes the result frame beyond {MAX_FRAME} bytes")
    return room


def check_text(text: str, limit: int, code: str) -> int:
    """Raise a Misfit where `text` cannot be sent, and give its length in code points."""
    length = len(text)
    if length > limit:
        raise Misfit(code, f"has {length} code points, the limit is {limit}")
    if "\0" in text:
        raise Misfit(JSON_NUL, f"holds U+0000 at code point {text.index(chr(0))}")
    if has_surrogate(text):
        raise Misfit(JSON_SURROGATE, "holds an unpaired surrogate, which UTF-8 cannot carry")
    return length


def _check_members(members: "dict[Any, Any]", depth: int, room: int) -> int:
    for name, value in members.items():
        if type(name) is not str:
            raise Misfit(
                OUTPUT_VALUE, f"has the key {name!r:.64} of the type {type(name).__qualname__}, not str"
            )
        try:
            room -= 4 + check_text(name, MAX_NAME, JSON_NAME_LENGTH)
            if name.startswith(RESERVED_NAME):
                raise Misfit(JSON_RESERVED_KEY, f"begins with {RESERVED_NAME}")
        except Misfit as misfit:
            misfit.reason = f"the name {quoted(name)} {misfit.reason}"
            raise
        try:
            room = check_value(value, depth + 1, room)
        except Misfit as misfit:
            misfit.path = f"[{quoted(name)}]{misfit.path}"
            raise
    return room


def _check_elements(elements: "Iterable[Any]", depth: int, room: int) -> int:
    for index, value in enumerate(elements):
        try:
            room = check_value(value, depth + 1, room - 1)
        except Misfit as misfit:
            misfit.path = f"[{index}]{misfit.path}"
            raise
    return room


def _no_default(value: object) -> "Any":
    raise TypeError(value)


_chunks: "Callable[[Any, int], Iterable[str]]"
try:
    from _json import encode_basestring, make_encoder

    _chunks = make_encoder(None, _no_default, encode_basestring, None, ":", ",", False, False, False)
except (ImportError, TypeError):

    def _chunks(value: "Any", level: int) -> "Iterable[str]":
        import json

        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: "Any") -> bytes:
    """Compact UTF-8 JSON of a value that was checked."""
    return "".join(_chunks(value, 0)).encode()
