"""The host's two messages: every field, and the order of the checks (P1-SDK-01, P1-SDK-02)."""

from typing import Any

import pytest
from conftest import Form
from support import HELLO, frame, framed, invoke, request


def hello(**changes: object) -> bytes:
    return frame({**HELLO, **changes}) + frame(invoke())


def without(message: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != field}


REFUSED = {
    # Versions: 1.0, true and "1" are not the integer 1.
    "hello-version-2": (hello(version=2), "request.version", "frame 1: version is 2"),
    "hello-version-0": (hello(version=0), "request.version", "frame 1"),
    "hello-version-true": (hello(version=True), "request.version", "version is true"),
    "hello-version-float": (hello(version=1.0), "request.version", "version is 1.0"),
    "hello-version-text": (hello(version="1"), "request.version", 'version is "1"'),
    "hello-version-null": (hello(version=None), "request.version", "version is null"),
    "hello-version-object": (hello(version={}), "request.version", "version is an object"),
    "version-before-host-api": (hello(version=2, host_api=2), "request.version", "frame 1"),
    "version-before-type": (hello(version=2, type="x"), "request.version", "frame 1"),
    "host-api-2": (hello(host_api=2), "request.host_api", "host_api is 2"),
    "host-api-true": (hello(host_api=True), "request.host_api", "host_api is true"),
    "host-api-float": (hello(host_api=1.0), "request.host_api", "host_api is 1.0"),
    "hello-type": (hello(type="invoke"), "request.message", 'type is "invoke", not "hello"'),
    "hello-type-number": (hello(type=1), "request.message", "type is 1"),
    "hello-extra": (hello(extra=1), "request.message", 'field "extra" is unknown'),
    "hello-fields-before-version": (hello(version=2, extra=1), "request.message", "extra"),
    "hello-empty": (framed(b"{}"), "request.message", "is missing"),
    "hello-missing": (frame(without(HELLO, "host_api")), "request.message", "field host_api is missing"),
    "two-hellos": (frame(HELLO) * 2, "request.message", "frame 2"),
    "invoke-first": (frame(invoke()) * 2, "request.message", "frame 1"),
    # The invoke message.
    "invoke-version-2": (request(version=2), "request.version", "frame 2: version is 2"),
    "invoke-version-true": (request(version=True), "request.version", "frame 2"),
    "invoke-type": (request(type="hello"), "request.message", "frame 2: type"),
    "invoke-extra": (request(extra=1), "request.message", 'field "extra" is unknown'),
    "id-number": (request(id=1), "request.id", "id is 1"),
    "id-empty": (request(id=""), "request.id", "0 code points"),
    "id-long": (request(id="é" * 129), "request.id", "129 code points, the limit is 1 to 128"),
    "action-number": (request(1), "request.message", "action is 1"),  # type: ignore[arg-type]
    "action-case": (request("Echo"), "request.message", 'action is "Echo"'),
    "action-empty": (request(""), "request.message", "action"),
    "action-long": (request("a" * 97), "request.message", "action"),
    "action-newline": (request("a\n"), "request.message", "action"),
    "targets-object": (request(targets={}), "request.message", "targets is an object"),
    "targets-text": (request(targets="ab"), "request.message", "targets is"),
    # P1-SDK-02: the batch.
    "targets-0": (request(targets=[]), "request.target_count", "0 targets, the limit is 1 to 64"),
    "targets-65": (request(targets=[f"t{i}" for i in range(65)]), "request.target_count", "65 targets"),
    "targets-257": (request(targets=[f"t{i}" for i in range(257)]), "json.entries", "256"),
    "target-number": (request(targets=["a", 1]), "request.target_type", "targets[1]: 1"),
    "target-null": (request(targets=[None]), "request.target_type", "targets[0]: null"),
    "target-array": (request(targets=["a", ["b"]]), "request.target_type", "targets[1]: an array"),
    "target-empty": (request(targets=["a", ""]), "request.target_length", "targets[1]"),
    "target-129": (
        request(targets=["x" * 129]),
        "request.target_length",
        "129 code points, the limit is 1 to 128",
    ),
    "target-129-astral": (request(targets=["😀" * 129]), "request.target_length", "129 code points"),
    "target-slash": (request(targets=["a/b"]), "request.target_character", 'targets[0]: "a/b" contains "/"'),
    "target-backslash": (request(targets=["a\\b"]), "request.target_character", '"a\\\\b"'),
    "target-colon": (request(targets=["ok", "a:b"]), "request.target_character", "targets[1]"),
    "target-nul": (request(targets=["a\0b"]), "json.nul", "frame 2, byte"),
    "target-twice": (
        request(targets=["a", "b", "a"]),
        "request.target_duplicate",
        'targets[2]: "a" stands at targets[0]',
    ),
    "target-order": (request(targets=["a/b", 1]), "request.target_character", "targets[0]"),
    "targets-before-parameters": (request(targets=[1], parameters=[]), "request.target_type", "targets[0]"),
    "parameters-array": (request(parameters=[]), "request.parameters_type", "parameters is an array"),
    "parameters-text": (request(parameters="x"), "request.parameters_type", 'parameters is "x"'),
    "parameters-null": (
        frame(HELLO) + frame({**invoke(), "parameters": None}),
        "request.parameters_type",
        "parameters is null",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_messages(form: Form, name: str) -> None:
    data, code, place = REFUSED[name]
    done = form.run(data)
    assert done.refusal == code
    assert place in done.line


@pytest.mark.parametrize("field", list(invoke()))
def test_a_missing_field_is_named(form: Form, field: str) -> None:
    done = form.run(frame(HELLO) + frame(without(invoke(), field)))
    assert done.refusal == "request.message"
    assert f"field {field} is missing" in done.line


def test_a_hostile_id_stays_on_one_line(form: Form) -> None:
    """P1-SDK-07: control characters are escaped, long ids are cut, the line is bounded."""
    done = form.run(request(targets=["\n\x1b[31m\u2028" + "😀" * 200]))
    assert done.refusal == "request.target_length"
    assert '"\\u000a\\u001b[31m\\u2028😀' in done.line
    assert "…" in done.line


@pytest.mark.parametrize("id", ["x", "é" * 128, " a ", "__proto__", "a/b:c\\", "0123456789abcdef" * 2])
def test_the_request_id_is_copied_exactly(form: Form, id: str) -> None:
    """P1-SDK-04."""
    assert form.run(request(id=id)).result["id"] == id


def test_fields_in_any_order_and_white_space(form: Form) -> None:
    first = b' {"type" : "hello",\n"host_api":1,\t"version":1}\r\n'
    turned = dict(reversed(invoke().items()))
    assert form.run(framed(first) + frame(turned)).results[0] == {"target": "a", "data": {"index": 0}}
