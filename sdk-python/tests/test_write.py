"""Values that a result can carry, and how they are written (P1-SDK-05, decisions on numbers)."""

import enum
import io
import json
from collections import OrderedDict, namedtuple
from decimal import Decimal
from typing import Any

import pytest
from conftest import Form
from hypothesis import given, settings
from hypothesis import strategies as st
from support import request

from modberth_sdk._exchange import exchange
from modberth_sdk._read import read_object
from modberth_sdk._scan import find_fault
from modberth_sdk._write import Misfit, check_value, encode

Pair = namedtuple("Pair", "left right")


class Text(str):
    __slots__ = ()


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Real(float):
    pass


def refusal(form: Form, value: object) -> Any:
    module = form.module.Module()
    module.batch("give")(lambda batch: [batch.targets[0].data(value)])
    # The one file has every name at its top.
    run = getattr(form.module, "exchange", exchange)
    with pytest.raises(form.module.OutputError) as caught:
        run(io.BytesIO(request("give", ["t"])).read, module.respond)
    return caught.value


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def wide() -> Any:
    """Give a small value that would be 256^8 numbers when written out."""
    value: Any = 0
    for _ in range(8):
        value = [value] * 256
    return value


REFUSED = {
    "nan": (float("nan"), "json.nonfinite", "data is nan"),
    "infinity": ([1, float("-inf")], "json.nonfinite", "data[1] is -inf"),
    "big": ({"n": 2**53}, "json.integer_range", 'data["n"] is'),
    "negative": (-(2**53), "json.integer_range", "data is"),
    "huge": (10**5_000, "json.integer_range", "data is"),
    "surrogate": ({"a": ["\udc00"]}, "json.surrogate", 'data["a"][0] holds'),
    "surrogate-name": ({"\ud800": 1}, "json.surrogate", 'the name "\\ud800"'),
    "nul": ("x\0", "json.nul", "code point 1"),
    "nul-name": ({"x\0": 1}, "json.nul", 'the name "x\\u0000"'),
    "reserved": ({"$serde_json::private::Number": "1"}, "json.reserved_key", "$serde_json::private::"),
    "depth": (nested(10), "json.depth", "stands at depth 13 of the frame, the limit is 12"),
    "circle": (circle(), "json.depth", "depth 13"),
    "entries": ([0] * 257, "json.entries", "257 entries, the limit is 256"),
    "members": ({str(index): 0 for index in range(257)}, "json.entries", "257 entries"),
    "name": ({"n" * 241: 0}, "json.name_length", "241 code points, the limit is 240"),
    "string": ("s" * 65_537, "json.string_length", "65537 code points, the limit is 65536"),
    "wide": (wide(), "frame.too_large", "1048576"),
    "bytes": (b"x", "output.value", "of the type bytes"),
    "set": ({1}, "output.value", "of the type set"),
    "function": (print, "output.value", "builtin_function_or_method"),
    "decimal": (Decimal("1.5"), "output.value", "decimal.Decimal"),
    "complex": (1j, "output.value", "of the type complex"),
    "generator": ((number for number in [1]), "output.value", "of the type generator"),
    "int-key": ({1: "a"}, "output.value", "key 1 of the type int"),
    "bool-key": ({True: "a"}, "output.value", "key True of the type bool"),
    "none-key": ({None: "a"}, "output.value", "key None"),
    # A subclass may mean more than JSON can say: it is refused, never silently flattened.
    "str-subclass": (Text("x"), "output.value", "Text"),
    "str-enum": (Colour.RED, "output.value", "Colour"),
    "int-enum": (Level.LOW, "output.value", "Level"),
    "float-subclass": (Real(1.0), "output.value", "Real"),
    "named-tuple": (Pair(1, 2), "output.value", "Pair"),
    "ordered": (OrderedDict(), "output.value", "collections.OrderedDict"),
    "subclass-key": ({Text("x"): 1}, "output.value", "Text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_values(form: Form, name: str) -> None:
    value, code, shown = REFUSED[name]
    error = refusal(form, value)
    assert error.code == code
    assert error.message.startswith('results[0], target "t": data')
    assert shown in error.message


WRITTEN = [
    (None, "null"), (True, "true"), (False, "false"), (0, "0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.1 + 0.2, "0.30000000000000004"),
    (1e16, "1e+16"), (1e20, "1e+20"), (1e21, "1e+21"), (5e-324, "5e-324"), (2**53 - 1, "9007199254740991"),
    (-(2**53) + 1, "-9007199254740991"), ((1, [2, ()]), "[1,[2,[]]]"), ({}, "{}"), ("é😀", '"é😀"'), ("", '""'),
    ("\x01\x1f\"\\/\u2028\x7f\n", '"\\u0001\\u001f\\"\\\\/\u2028\x7f\\n"'), ({"a": 1, "A": 2, "": 3}, '{"a":1,"A":2,"":3}'),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), WRITTEN)
def test_written_values(value: object, text: str) -> None:
    """Compact; a float has a fraction or an exponent; a tuple is a list."""
    check_value(value, 3)
    assert encode(value).decode() == text


@pytest.mark.parametrize(
    "value", [nested(9), [0] * 256, {"n" * 240: 0}, "é" * 65_536, wide()[0][0][0][0][0][0]]
)
def test_the_bound_itself_passes(value: object) -> None:
    check_value(value, 3)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=[]), max_size=6)
)
values = st.recursive(
    scalars | st.just("$serde_json::private::x"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=[]), max_size=3), inner, max_size=4)
        | inner.map(lambda value: [[[[[value]]]]])
    ),
    max_leaves=10,
)


def agrees(misfit: Misfit, value: object) -> bool:
    """Whether the reader refuses what a careless encoder makes of `value`, for the same reason."""
    text = json.dumps({"a": [{"b": value}]}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    fault = find_fault(text)
    assert fault is not None
    # Surrogates come out as bytes that are no UTF-8, and NaN as a word: these faults may stand before others.
    twins = {"json.utf8": "json.surrogate", "json.syntax": "json.nonfinite", "json.number": "json.nonfinite"}
    return fault.code in twins or misfit.code == fault.code


@settings(max_examples=300)
@given(values)
def test_what_is_written_is_what_the_strict_reader_takes(value: Any) -> None:
    """The writer accepts exactly what the reader accepts, and the value comes back the same."""
    # At depth 3, as in a frame.
    try:
        check_value(value, 3)
    except Misfit as misfit:
        refused = misfit
    else:
        payload = encode({"a": [{"b": value}]})
        assert repr(read_object(payload, 1)) == repr({"a": [{"b": value}]})
        return
    assert agrees(refused, value)
