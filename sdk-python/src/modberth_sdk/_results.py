"""The handler's results, checked as the host will check them (P1-SDK-05)."""

from ._codes import (
    FRAME_TOO_LARGE,
    JSON_STRING_LENGTH,
    OUTPUT_ERROR_CODE,
    OUTPUT_ERROR_FIELDS,
    OUTPUT_ERROR_MESSAGE,
    OUTPUT_OUTCOME_BOTH,
    OUTPUT_OUTCOME_MISSING,
    OUTPUT_RESULT_FIELDS,
    OUTPUT_RESULTS_TYPE,
    OUTPUT_TARGET_DUPLICATE,
    OUTPUT_TARGET_MISSING,
    OUTPUT_TARGET_UNKNOWN,
)
from ._errors import OutputError
from ._limits import DATA_DEPTH, MAX_FRAME, MAX_MESSAGE, MAX_STRING, PROTOCOL
from ._text import is_identifier, kind_of, quoted
from ._write import Misfit, check_text, check_value, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_ROW_FIELDS = {"target", "data", "error"}
_ERROR_FIELDS = {"code", "message"}


def encode_result(request_id: str, targets: "Sequence[str]", results: "Any") -> bytes:
    """The payload of the result frame, or an OutputError that names the row, its target and the fault."""
    try:
        _check_list(results)
        _check_rows(targets, results)
        _check_values(results)
    except OutputError:
        # Nobody will await what was refused, and the interpreter need not say so for each of them.
        _close_coroutines(results)
        raise
    payload = encode({"version": PROTOCOL, "type": "result", "id": request_id, "results": results})
    if len(payload) > MAX_FRAME:
        sizes = [len(encode(row)) for row in results]
        largest = sizes.index(max(sizes))
        raise OutputError(
            FRAME_TOO_LARGE,
            f"the result frame takes {len(payload)} bytes, the limit is {MAX_FRAME}; the largest is "
            f"{_place(largest, results[largest])} with {sizes[largest]} bytes",
        )
    return payload


def _check_list(results: "Any") -> None:
    if type(results) is not list and type(results) is not tuple:
        raise OutputError(
            OUTPUT_RESULTS_TYPE, f"results: a list of results is due, what was returned is {kind_of(results)}"
        )


def _close_coroutines(results: "Any") -> None:
    """Close every coroutine in what a handler gave. A value may stand in itself, or be of any depth."""
    left = [results]
    seen: set[int] = set()
    while left and len(seen) < MAX_FRAME:
        value = left.pop()
        kind = type(value)
        if kind is dict or kind is list or kind is tuple:
            if id(value) not in seen:
                seen.add(id(value))
                left.extend(value.values() if kind is dict else value)
        elif kind.__name__ == "coroutine":
            try:
                value.close()
            except Exception:
                # One that has begun may refuse to end; nobody warns of that one.
                pass


def _check_rows(targets: "Sequence[str]", results: "Sequence[Any]") -> None:
    known = set(targets)
    seen: dict[str, int] = {}
    for index, row in enumerate(results):
        if type(row) is not dict:
            raise OutputError(
                OUTPUT_RESULTS_TYPE,
                f"results[{index}]: a result is a dict with target and data or error, "
                f"this is {kind_of(row)}; target.data(value) makes one",
            )
        target = row.get("target")
        if type(target) is not str:
            reason = (
                f"target is {kind_of(target)}, not a string"
                if "target" in row
                else "field target is missing; target.data(value) makes a whole result"
            )
            raise OutputError(OUTPUT_RESULT_FIELDS, f"results[{index}]: {reason}")
        place = _place(index, row)
        for name in row:
            if name not in _ROW_FIELDS:
                shown = quoted(name) if type(name) is str else repr(name)
                raise OutputError(OUTPUT_RESULT_FIELDS, f"{place}: field {shown} is unknown")
        if target not in known:
            raise OutputError(OUTPUT_TARGET_UNKNOWN, f"{place}: the batch has no such target")
        if target in seen:
            raise OutputError(
                OUTPUT_TARGET_DUPLICATE, f"{place}: results[{seen[target]}] names this target already"
            )
        seen[target] = index
        if "error" in row:
            if "data" in row:
                raise OutputError(OUTPUT_OUTCOME_BOTH, f"{place}: data and error stand side by side")
            _check_error(row["error"], place)
        elif "data" not in row:
            raise OutputError(OUTPUT_OUTCOME_MISSING, f"{place}: neither data nor error is there")
    for index, target in enumerate(targets):
        if target not in seen:
            raise OutputError(
                OUTPUT_TARGET_MISSING, f"targets[{index}], target {quoted(target)}: has no result"
            )


def _check_error(error: "Any", place: str) -> None:
    if type(error) is not dict:
        raise OutputError(OUTPUT_ERROR_FIELDS, f"{place}: error is {kind_of(error)}, not a dict")
    if error.keys() != _ERROR_FIELDS:
        raise OutputError(OUTPUT_ERROR_FIELDS, f"{place}: error has other fields than code and message")
    code, message = error["code"], error["message"]
    for name, text in error.items():
        if type(text) is not str:
            raise OutputError(
                OUTPUT_ERROR_FIELDS, f"{place}: the error's {name} is {kind_of(text)}, not a string"
            )
    if not is_identifier(code):
        raise OutputError(
            OUTPUT_ERROR_CODE, f"{place}: the error code {quoted(code)} is not [a-z][a-z0-9_.-]{{0,95}}"
        )
    if len(message) > MAX_MESSAGE:
        raise OutputError(
            OUTPUT_ERROR_MESSAGE,
            f"{place}: the error message has {len(message)} code points, the limit is {MAX_MESSAGE}",
        )


def _check_values(results: "Sequence[dict[str, Any]]") -> None:
    room = MAX_FRAME
    for index, row in enumerate(results):
        try:
            if "data" in row:
                what = "data"
                room = check_value(row["data"], DATA_DEPTH, room)
            else:
                what = "the error message"
                check_text(row["error"]["message"], MAX_STRING, JSON_STRING_LENGTH)
        except Misfit as misfit:
            where = f"{_place(index, row)}: {what}{misfit.path}"
            raise OutputError(misfit.code, f"{where} {misfit.reason}") from None


def _place(index: int, row: "dict[str, Any]") -> str:
    return f"results[{index}], target {quoted(row['target'])}"
