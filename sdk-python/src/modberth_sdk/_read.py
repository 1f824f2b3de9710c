"""Reading a payload: one strict JSON object.

The interpreter's own scanner does the work, and three hooks and one walk refuse what it lets through.
It is taken from `_json` itself: the `json` package costs more start-up time than a whole bare interpreter,
for regular expressions nobody needs here. Where `_json` is missing or has another shape, `json` reads
what the slow scanner has passed.
"""

from ._errors import ProtocolError
from ._limits import MAX_DEPTH, MAX_ENTRIES, MAX_INTEGER, MAX_NAME, MAX_STRING, RESERVED_NAME
from ._scan import find_fault
from ._text import has_surrogate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\n\r"


#: How a refusal shows: bad UTF-8, the scanner's complaints and the hooks' are ValueErrors, a value that does
#: not begin is a StopIteration, and too many levels are a RecursionError. In some releases the scanner has no
#: exception to complain with before `json.decoder` is imported, and the interpreter makes it a SystemError.
_REFUSALS = (ValueError, StopIteration, RecursionError, SystemError)


class _Refused(ValueError):
    """The fast reader met something outside the profile; the slow scanner will name it."""


def read_object(payload: bytes, frame: int) -> "dict[str, Any]":
    """The object in `payload`, or a ProtocolError that names frame, byte and fault."""
    try:
        return _read(payload)
    except _REFUSALS:
        fault = find_fault(payload)
        if fault is None:
            raise
    raise ProtocolError(fault.code, f"frame {frame}, byte {fault.offset}: {fault.reason}")


def _read_fast(payload: bytes) -> "dict[str, Any]":
    text = payload.decode().strip(_SPACE)
    value, end = _scan(text, 0)
    if end != len(text) or type(value) is not dict:
        raise _Refused
    # A document without any of these signs holds nothing that the walk could refuse.
    if (
        len(payload) > MAX_NAME
        or "\\u" in text
        or "$" in text
        or text.count("[") + text.count("{") > MAX_DEPTH
    ):
        _walk(value, 1)
    return value


def _walk(container: "Any", depth: int) -> None:
    """Refuse what lies outside the bounds; `depth` is that of the container's entries."""
    if not container:
        return
    if len(container) > MAX_ENTRIES or depth > MAX_DEPTH:
        raise _Refused
    if type(container) is dict:
        for name in container:
            if len(name) > MAX_NAME or name.startswith(RESERVED_NAME) or "\0" in name or has_surrogate(name):
                raise _Refused
        container = container.values()
    for value in container:
        kind = type(value)
        if kind is str:
            if len(value) > MAX_STRING or "\0" in value or has_surrogate(value):
                raise _Refused
        elif kind is dict or kind is list:
            _walk(value, depth + 1)


def _object(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused
    return value


def _integer(digits: str) -> int:
    # A sign and 16 digits at most: int() is quadratic, and refuses thousands of digits on its own.
    if len(digits) > 17:
        raise _Refused
    value = int(digits)
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise _Refused
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if value - value != 0.0:
        raise _Refused
    return value


def _constant(name: str) -> None:
    raise _Refused


class _Hooks:
    """What the interpreter's scanner asks its owner for."""

    strict = True
    object_hook = None
    object_pairs_hook = _object
    parse_float = _float
    parse_int = _integer
    parse_constant = _constant


def _read_slow(payload: bytes) -> "dict[str, Any]":
    import json

    if find_fault(payload) is not None:
        raise _Refused
    value: dict[str, Any] = json.loads(payload.decode())
    return value


_scan: "Callable[[str, int], tuple[Any, int]]"
_read: "Callable[[bytes], dict[str, Any]]"
try:
    from _json import make_scanner

    # It keeps no owner, it only takes the attributes: the class itself serves, without bound methods.
    _scan = make_scanner(_Hooks)  # type: ignore[arg-type]
    _read = _read_fast
except (ImportError, TypeError, AttributeError):
    _read = _read_slow
