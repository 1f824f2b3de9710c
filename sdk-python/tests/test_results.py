"""What a handler gives, checked before anything is written (P1-SDK-05, P1-SDK-07)."""

from typing import Any

import pytest
from conftest import Form
from support import request

TARGETS = ["first", "second", "third"]

REFUSED = {
    "raise": ("output.handler_failed", ['action "raise"', "RuntimeError: raised on purpose"]),
    "missing": ("output.target_missing", ["targets[0]", '"first"']),
    "unknown": ("output.target_unknown", ["results[0]", '"stranger"']),
    "duplicate": ("output.target_duplicate", ["results[1]", '"first"', "results[0]"]),
    "both": ("output.outcome_both", ["results[0]", '"first"']),
    "neither": ("output.outcome_missing", ["results[0]", '"first"']),
    "extra-field": ("output.result_fields", ["results[0]", '"first"', '"note"']),
    "bad-code": ("output.error_code", ["results[0]", '"first"', '"Not Found"']),
    "each-bad-code": ("output.error_code", ["results[0]", '"first"', '"Not Found"']),
    "long-message": ("output.error_message", ["results[0]", '"first"', "1025", "1024"]),
    "nan": ("json.nonfinite", ["results[0]", '"first"', "nan"]),
    "infinity": ("json.nonfinite", ["results[0]", '"first"', "inf"]),
    "big-integer": ("json.integer_range", ["results[0]", '"first"', "9007199254740991"]),
    "surrogate": ("json.surrogate", ["results[0]", '"first"']),
    "nul": ("json.nul", ["results[0]", '"first"', "code point 1"]),
    "too-big": ("frame.too_large", ["results[0]", '"first"', "1048576"]),
    "not-a-list": ("output.results_type", ["list of results", "None"]),
    "bytes": ("output.value", ["results[0]", '"first"', "bytes"]),
    "key-type": ("output.value", ["results[0]", '"first"', "key 1", "int"]),
}


@pytest.mark.parametrize("action", REFUSED)
def test_refused_results(form: Form, action: str) -> None:
    code, parts = REFUSED[action]
    done = form.run(request(action, TARGETS))
    assert done.refusal == code
    for part in parts:
        assert part in done.line


def test_a_failed_batch_shows_its_trace_before_the_diagnostic(form: Form) -> None:
    done = form.run(request("raise", TARGETS))
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "in _raise\n" in done.stderr
    assert "modberth_sdk" not in done.stderr


def test_each_raise_fails_its_target_alone(form: Form) -> None:
    """P1-SDK-07: the trace on standard error, a neutral message to the host, status 0."""
    done = form.run(request("each-raise", ["good", "bad-1", "also good", "bad-2"]))
    error = {"code": "internal", "message": "The module failed on this target."}
    assert done.results == [
        {"target": "good", "data": {"index": 0}},
        {"target": "bad-1", "error": error},
        {"target": "also good", "data": {"index": 2}},
        {"target": "bad-2", "error": error},
    ]
    assert done.stderr.count("RuntimeError: raised on purpose\n") == 2
    assert "modberth: " not in done.stderr


def test_many_failing_targets_stay_within_the_bound_of_standard_error(form: Form) -> None:
    """P1-HOST-05: the host ends an action that writes more than 65,536 bytes there."""
    done = form.run(request("each-raise", [f"bad-{i}" for i in range(64)]))
    assert len(done.results) == 64
    assert len(done.stderr.encode()) < 40_000


def test_each_target_error_is_that_targets_error(form: Form) -> None:
    done = form.run(request("each-target-error", ["bad", "good"]))
    assert done.results == [
        {"target": "bad", "error": {"code": "not_found", "message": "no such target"}},
        {"target": "good", "data": {"index": 1}},
    ]
    assert done.stderr == ""


ACCEPTED: dict[str, Any] = {
    "big-integer-ok": {"data": 9_007_199_254_740_991},
    "message-1024": {"error": {"code": "long", "message": "é" * 1_024}},
    "keys": {"data": {"__proto__": {"x": 1}, "constructor": 2, "a": 1, "A": 2}},
    "control": {"data": '\x01\x1f"\\\u2028'},
}


@pytest.mark.parametrize("action", ACCEPTED)
def test_accepted_results(form: Form, action: str) -> None:
    first, second, third = form.run(request(action, TARGETS)).results
    assert first == {"target": "first", **ACCEPTED[action]}
    assert (second, third) == (
        {"target": "second", "data": {"index": 1}},
        {"target": "third", "data": {"index": 2}},
    )


def test_results_in_another_order_are_written(form: Form) -> None:
    done = form.run(request("reversed", TARGETS))
    assert [row["target"] for row in done.results] == ["third", "second", "first"]


def test_an_unknown_action_is_every_targets_error(form: Form) -> None:
    """P1-SDK-10."""
    done = form.run(request("no.such-action", ["a", "b"]))
    error = {"code": "unsupported_action", "message": 'This module has no action "no.such-action".'}
    assert done.results == [{"target": target, "error": error} for target in ("a", "b")]
    assert done.stderr.startswith('action "no.such-action": not in this module; its actions: ')
    assert done.stderr.count("\n") == 1


NUMBERS = [
    "0",
    "-1",
    "1.0",
    "-0.0",
    "0.1",
    "1e16",
    "1e20",
    "1e21",
    "1e300",
    "5e-324",
    "1.7976931348623157e308",
    "0.30000000000000004",
    "9007199254740991",
    "-9007199254740991",
    "9007199254740993.0",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_goes_through_unchanged(form: Form, number: str) -> None:
    """A float keeps a fraction or an exponent, so that 1e20 does not come back as an integer nobody takes."""
    data = request("number-echo", ["t"], {"value": 0}).replace(b'"value":0}', f'"value":{number}}}'.encode())
    header = len(request("ok", [])) and data.index(b'{"version":1,"type":"invoke"')
    body = data[header:]
    done = form.run(data[: header - 4] + len(body).to_bytes(4, "big") + body)
    value = done.results[0]["data"]
    expected = float(number) if any(sign in number for sign in ".e") else int(number)
    assert type(value) is type(expected)
    assert repr(value) == repr(expected)
