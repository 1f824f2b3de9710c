"""A module whose actions are wrong on request; tests feed it frames and look at what its SDK makes of it."""

import sys

# Run by hand with `-I -S -B`; an SDK that is there already (a vendored one, or in a test) is kept.
if "modberth_sdk" not in sys.modules:
    sys.path.insert(0, f"{__file__.rpartition('/')[0]}/../../src")

from modberth_sdk import Batch, Module, Target, TargetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]

module = Module()


def _ok(batch: Batch) -> "list[Row]":
    return [target.data({"index": target.index}) for target in batch.targets]


def _first(value: object) -> "Callable[[Batch], list[Row]]":
    """Make a handler that gives the first target `value` as its data."""

    def handler(batch: Batch) -> "list[Row]":
        return [batch.targets[0].data(value), *_ok(batch)[1:]]

    return handler


def _first_row(**fields: object) -> "Callable[[Batch], list[Row]]":
    """Make a handler that adds `fields` to the first target's bare row."""

    def handler(batch: Batch) -> "list[Row]":
        return [{"target": batch.targets[0].id, **fields}, *_ok(batch)[1:]]

    return handler


def _error(code: str, message: str) -> "Callable[[Batch], list[Row]]":
    return _first_row(error={"code": code, "message": message})


module.batch("ok")(_ok)
module.batch("neither")(_first_row())
module.batch("both")(_first_row(data=1, error={"code": "odd", "message": "both"}))
module.batch("extra-field")(_first_row(data=1, note="extra"))
module.batch("bad-code")(_error("Not Found", "x"))
module.batch("long-message")(_error("long", "é" * 1_025))
module.batch("message-1024")(_error("long", "é" * 1_024))
module.batch("nan")(_first(float("nan")))
module.batch("infinity")(_first(float("inf")))
module.batch("big-integer")(_first(2**53))
module.batch("big-integer-ok")(_first(2**53 - 1))
module.batch("surrogate")(_first("\ud800"))
module.batch("too-big")(_first(["x" * 60_000] * 64))
module.batch("keys")(_first({"__proto__": {"x": 1}, "constructor": 2, "a": 1, "A": 2}))
module.batch("control")(_first('\x01\x1f"\\\u2028'))
# Of Python alone: values that have no JSON form, or hide one.
module.batch("nul")(_first("a\0b"))
module.batch("bytes")(_first(b"bytes"))
module.batch("key-type")(_first({1: "a", "1": "b"}))


@module.batch("reversed")
def _reversed(batch: Batch) -> "list[Row]":
    return _ok(batch)[::-1]


@module.batch("raise")
def _raise(batch: Batch) -> "list[Row]":
    raise RuntimeError("raised on purpose")


@module.each("each-raise")
def _each_raise(target: Target, parameters: "Row") -> "Row":
    if target.id.startswith("bad"):
        raise RuntimeError("raised on purpose")
    return {"index": target.index}


@module.each("each-target-error")
def _each_target_error(target: Target, parameters: "Row") -> "Row":
    if target.id.startswith("bad"):
        raise TargetError("not_found", "no such target")
    return {"index": target.index}


@module.each("each-bad-code")
def _each_bad_code(target: Target, parameters: "Row") -> "Row":
    raise TargetError("Not Found", "x")


@module.each("each-long-message")
def _each_long_message(target: Target, parameters: "Row") -> "Row":
    if target.id.startswith("bad"):
        raise TargetError("long", "é" * 1_025)
    return {"index": target.index}


def _bad(value: object) -> "Callable[[Target, Row], object]":
    """Make a handler that gives targets whose id begins "bad" `value` as their data."""

    def handler(target: Target, parameters: "Row") -> object:
        return value if target.id.startswith("bad") else {"index": target.index}

    return handler


module.each("each-nan")(_bad(float("nan")))
module.each("each-infinity")(_bad(float("inf")))
module.each("each-big-integer")(_bad(2**53))
module.each("each-surrogate")(_bad("\ud800"))
module.each("each-too-big")(_bad(["x" * 60_000] * 64))


@module.batch("missing")
def _missing(batch: Batch) -> "list[Row]":
    return _ok(batch)[1:]


@module.batch("unknown")
def _unknown(batch: Batch) -> "list[Row]":
    return [{"target": "stranger", "data": 1}, *_ok(batch)[1:]]


@module.batch("duplicate")
def _duplicate(batch: Batch) -> "list[Row]":
    rows = _ok(batch)
    return [rows[0], rows[0], *rows[2:]]


@module.batch("not-a-list")
def _not_a_list(batch: Batch) -> None:
    return None


@module.batch("print")
def _print(batch: Batch) -> "list[Row]":
    print("stray print")
    return _ok(batch)


@module.batch("child-print")
def _child_print(batch: Batch) -> "list[Row]":
    import subprocess

    subprocess.run(["/bin/echo", "stray child"], check=True)
    return _ok(batch)


@module.each("made")
def _made(target: Target, parameters: "Row") -> object:
    """Give data of the kind, count and unit that the parameters say."""
    kind, unit, count = parameters["kind"], parameters["unit"], parameters["count"]
    if kind == "text":
        return unit * count
    if kind == "name":
        return {unit * count: None}
    if kind == "members":
        return {str(index): None for index in range(count)}
    if kind == "list":
        return [None] * count
    levels: list[object] = []
    for _ in range(1, count):
        levels = [levels]
    return levels


@module.batch("rows")
def _rows(batch: Batch) -> object:
    """Give the results that the parameter rows holds, whatever they are."""
    return batch.parameters["rows"]


@module.each("number-echo")
def _number_echo(target: Target, parameters: "Row") -> object:
    return parameters["value"]


if __name__ == "__main__":
    module.run()
