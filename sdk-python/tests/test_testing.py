"""The fake host: the author's tests run by the host's rules, in this process."""

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest

from modberth_sdk import Batch, Module, OutputError, ProtocolError, Target, TargetError
from modberth_sdk.testing import FakeHost, Result, codes

module = Module()


@module.each("echo")
def echo(target: Target, parameters: dict[str, Any]) -> object:
    return {"message": parameters["message"], "index": target.index}


@module.each("find")
def find(target: Target, parameters: dict[str, Any]) -> None:
    raise TargetError("not_found", "no such target")


@module.batch("print")
def stray(batch: Batch) -> list[dict[str, Any]]:
    print("stray")
    return [target.data(None) for target in reversed(batch.targets)]


@module.batch("lose")
def lose(batch: Batch) -> list[dict[str, Any]]:
    return []


host = FakeHost(module)


def test_results_by_target_in_request_order() -> None:
    results = host.invoke("echo", targets=["b", "a"], parameters={"message": "x"})
    assert list(results) == ["b", "a"]
    assert results["a"].data == {"message": "x", "index": 1}
    assert results["a"].error is None
    assert results["a"].target == "a"
    assert repr(results["a"]) == "Result(target='a', data={'message': 'x', 'index': 1})"


def test_data_of_a_failed_target_raises_its_error() -> None:
    result = host.invoke("find", targets=["a"])["a"]
    assert isinstance(result, Result)
    with pytest.raises(TargetError, match="not_found: no such target"):
        _ = result.data


def test_an_unknown_action() -> None:
    error = host.invoke("absent", targets=["a"])["a"].error
    assert error is not None
    assert error.code == "unsupported_action"


def test_output_is_judged() -> None:
    with pytest.raises(OutputError, match='target "a": has no result') as caught:
        host.invoke("lose", targets=["a"])
    assert caught.value.code == codes.OUTPUT_TARGET_MISSING


def test_what_a_handler_prints_goes_to_standard_error() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        host.invoke("print", targets=["a", "b"])
    assert (out.getvalue(), err.getvalue()) == ("", "stray\n")


REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "no-targets": ({"targets": []}, codes.REQUEST_TARGET_COUNT),
    "65-targets": ({"targets": [str(index) for index in range(65)]}, codes.REQUEST_TARGET_COUNT),
    "300-targets": ({"targets": [str(index) for index in range(300)]}, codes.REQUEST_TARGET_COUNT),
    "slash": ({"targets": ["a/b"]}, codes.REQUEST_TARGET_CHARACTER),
    "nul": ({"targets": ["a\0"]}, codes.REQUEST_TARGET_CHARACTER),
    "surrogate": ({"targets": ["\ud800"]}, codes.JSON_SURROGATE),
    "number": ({"targets": [1]}, codes.REQUEST_TARGET_TYPE),
    "value": ({"targets": ["a"], "parameters": {"x": [2**53]}}, codes.JSON_INTEGER_RANGE),
    "bytes": ({"targets": ["a"], "parameters": {"x": b""}}, codes.OUTPUT_VALUE),
    "large": ({"targets": ["a"], "parameters": {"x": ["x" * 60_000] * 20}}, codes.FRAME_TOO_LARGE),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_that_no_host_sends(name: str) -> None:
    """P1-HOST-13, P1-HOST-14, P1-HOST-33."""
    arguments, code = REQUESTS[name]
    with pytest.raises(ProtocolError) as caught:
        host.invoke("echo", **arguments)
    assert caught.value.code == code


def test_every_run_has_its_room_for_traces(capsys: pytest.CaptureFixture[str]) -> None:
    """In a process there is one run; in an author's tests there are many, and none may lose its trace."""
    failing = Module()

    @failing.each("fail")
    def fail(target: Target, parameters: dict[str, Any]) -> None:
        raise ValueError("é" * 1_000)

    for _ in range(40):
        FakeHost(failing).invoke("fail", targets=["a"])
        assert "ValueError: éé" in capsys.readouterr().err


def test_a_raw_handler() -> None:
    results = FakeHost(lambda request: [{"target": "a", "data": request["id"]}]).invoke("x", targets=["a"])
    assert len(results["a"].data) == 32
