"""The fast reader accepts exactly what the slow scanner passes, and reads what it says (P1-HOST-17 to 22, 35)."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from modberth_sdk._read import _REFUSALS as REFUSALS
from modberth_sdk._read import _Hooks, _read_fast, _read_slow
from modberth_sdk._scan import find_fault

#: Pieces that make a document nearly legal: each is a border of a rule.
FRAGMENTS = [
    "0", "1", "-", "-0", "1.", ".5", "1e", "1e5", "1e400", "-1e309", "0.1e-999999999999", "1.7976931348623157e308",
    "9007199254740991", "9007199254740992", "-9007199254740993", "1" * 17, "1" * 5_000, "1.0", "0x10", "1_0", "٣", "Ⅷ",
    "NaN", "Infinity", "-Infinity", "nul", "null", "true", "false", "True", ",", ":", "{", "}", "[", "]", '"', "\\", "/",
    "\\u0000", "\\\\u0000", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\uD83D\\u0041", "\\u00g1", "\\u +41", "\\x", "\\/",
    "\0", "\x01", "\x1f", "\x7f", "\x85", "\u2028", "\ufeff", "\uffff", "é", "é", "😀", " ", "\t", "\n", "\r", "\x0b",
    "$serde_json::private::", '"$serde_json::private::x":1', "\\u0024serde_json::private::", '"a":1', '"a":', '"\\u0061":2',
    '"' + "n" * 240 + '":0', '"' + "n" * 241 + '":0', '"' + "é" * 240 + '":0', "[" * 11 + "]" * 11, "[" * 12 + "]" * 12,
    "[" * 11 + "0" + "]" * 11, "[" + "0," * 255 + "0]", "[" + "0," * 256 + "0]", "//", "/*x*/", "'",
]  # fmt: skip

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Give an object's JSON with a few edits: a fragment put in, a range taken out or doubled, a byte changed."""
    value = draw(st.dictionaries(st.text(max_size=4), values, max_size=4))
    data = json.dumps(value, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0:
                data = data[:at] + draw(st.sampled_from(FRAGMENTS)).encode() + data[at:]
            case 1:
                data = data[:at] + data[at + draw(st.integers(1, 4)) :]
            case 2:
                data = data[:at] + data[max(0, at - draw(st.integers(1, 6))) : at] + data[at:]
            case _:
                data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    return data


def fast(payload: bytes) -> Any:
    try:
        return _read_fast(payload)
    except REFUSALS:
        return None


@settings(max_examples=600)
@given(mutated() | st.sampled_from(FRAGMENTS).map(lambda text: f'{{"a":{text}}}'.encode()))
@example(b"")
@example(b'{"a":1,"a":2}')
@example(b'{"a":"\\\\u0000"}')
@example(b'{"\\ud800":1}')
@example(b'{"a":[1 000]}')
def test_fast_and_slow_agree(payload: bytes) -> None:
    fault = find_fault(payload)
    value = fast(payload)
    assert (fault is None) == (value is not None), fault
    if fault is None:
        # The same value again from an independent reader, types included.
        assert repr(value) == repr(json.loads(payload.decode()))
        assert repr(_read_slow(payload)) == repr(value)
    else:
        assert 0 <= fault.offset <= len(payload)
        with pytest.raises(REFUSALS):
            _read_slow(payload)


def border(depth: int) -> bytes:
    """Give an object whose deepest value, a number, stands at `depth`."""
    return b'{"a":' + b"[" * (depth - 1) + b"0" + b"]" * (depth - 1) + b"}"


def entries(count: int) -> bytes:
    return b'{"a":[' + b",".join([b"0"] * count) + b"]}"


def members(count: int) -> bytes:
    return b"{" + b",".join(b'"%d":0' % index for index in range(count)) + b"}"


def named(length: int) -> bytes:
    return ('{"' + "é" * length + '":0}').encode()


def holding(length: int) -> bytes:
    return ('{"a":"' + "😀" * length + '"}').encode()


BORDERS = [
    (border, 12, "json.depth", 17),
    (entries, 256, "json.entries", 518),
    (members, 256, "json.entries", None),
    (named, 240, "json.name_length", 1),
    (holding, 65_536, "json.string_length", 5),
]


@pytest.mark.parametrize(("make", "limit", "code", "offset"), BORDERS)
def test_the_bound_passes_and_one_more_is_refused(
    make: Any, limit: int, code: str, offset: int | None
) -> None:
    """P1-HOST-21, P1-HOST-35."""
    assert fast(make(limit)) is not None
    assert find_fault(make(limit)) is None
    fault = find_fault(make(limit + 1))
    assert fast(make(limit + 1)) is None
    assert fault is not None
    assert fault.code == code
    assert offset is None or fault.offset == offset


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_hundred_thousand_levels_are_refused_like_thirteen(opening: bytes) -> None:
    """P1-HOST-21."""
    fault = find_fault(b'{"a":' + opening * 100_000)
    assert fast(b'{"a":' + opening * 100_000) is None
    assert fault is not None
    assert fault.code == "json.depth"
    assert fault.offset == 5 + 12 * len(opening)


def test_the_hooks_are_what_the_interpreters_scanner_asks_for() -> None:
    """A name that the interpreter renames would silently switch a check off; then the scanner's own error shows."""
    for name in ("strict", "object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant"):
        assert hasattr(_Hooks, name)
