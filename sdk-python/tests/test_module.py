"""The author's side: registration, the two handler forms, and the raw one."""

import io
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import SDK, frame, request, run, unframe

from modberth_sdk import Batch, Module, OutputError, RegistrationError, Target, TargetError
from modberth_sdk._exchange import exchange
from modberth_sdk.testing import FakeHost


@dataclass(frozen=True, slots=True)
class Echo:
    message: str = "hello"


def test_each_is_called_once_a_target_in_request_order() -> None:
    module = Module()
    seen: list[tuple[str, int, object]] = []

    @module.each("note")
    def note(target: Target, parameters: dict[str, Any]) -> int:
        seen.append((target.id, target.index, parameters["p"]))
        return target.index

    results = FakeHost(module).invoke("note", targets=["b", "a"], parameters={"p": 1})
    assert seen == [("b", 0, 1), ("a", 1, 1)]
    assert [result.data for result in results.values()] == [0, 1]


def test_batch_gets_everything_in_one_call() -> None:
    """P1-SDK-03."""
    module = Module()
    calls: list[Batch] = []

    @module.batch("swap")
    def swap(batch: Batch) -> list[dict[str, Any]]:
        calls.append(batch)
        first, second = batch.targets
        return [second.data("last"), first.error("odd", "first")]

    results = FakeHost(module).invoke("swap", targets=["x", "y"], parameters={"p": None})
    (batch,) = calls
    assert (batch.id, batch.action, batch.parameters) == ("0123456789abcdef" * 2, "swap", {"p": None})
    assert [(target.id, target.index) for target in batch.targets] == [("x", 0), ("y", 1)]
    assert list(batch.request) == ["version", "type", "id", "action", "targets", "parameters"]
    assert list(results) == ["x", "y"]
    assert results["y"].data == "last"
    assert repr(batch) == (
        "Batch(action='swap', targets=(Target(id='x', index=0), Target(id='y', index=1)), parameters={'p': None})"
    )


def test_params_makes_the_second_argument() -> None:
    module = Module()

    @module.each("echo", params=Echo)
    def echo(target: Target, params: Echo) -> dict[str, object]:
        return {"message": params.message, "index": target.index}

    host = FakeHost(module)
    assert host.invoke("echo", targets=["a"])["a"].data == {"message": "hello", "index": 0}
    assert host.invoke("echo", targets=["a"], parameters={"message": "x"})["a"].data["message"] == "x"
    # What the callable does not take is a failure of every target, not of the run.
    wrong = host.invoke("echo", targets=["a", "b"], parameters={"other": 1})
    assert [result.error.code for result in wrong.values() if result.error] == ["internal", "internal"]


def test_params_may_refuse_with_a_target_error() -> None:
    module = Module()

    def positive(number: int) -> int:
        if number < 1:
            raise TargetError("out_of_range", "The number must be positive.")
        return number

    @module.each("double", params=positive)
    def double(target: Target, number: int) -> int:
        return number * 2

    host = FakeHost(module)
    assert host.invoke("double", targets=["a"], parameters={"number": 2})["a"].data == 4
    error = host.invoke("double", targets=["a"], parameters={"number": 0})["a"].error
    assert error is not None
    assert str(error) == "out_of_range: The number must be positive."


@pytest.mark.parametrize("form", ["each", "batch"])
def test_an_action_is_registered_once(form: str) -> None:
    module = Module()
    module.each("echo")(lambda target, parameters: None)
    with pytest.raises(RegistrationError, match='"echo" has a handler already') as caught:
        getattr(module, form)("echo")(lambda *arguments: None)
    assert caught.value.code == "process.actions"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", ["", "Echo", "1st", "a b", "é", "a" * 97, "a\n", "-a", None, 1])
def test_an_action_name_is_an_identifier(name: Any) -> None:
    with pytest.raises(RegistrationError, match="is not an identifier"):
        Module().batch(name)(lambda batch: [])


@pytest.mark.parametrize("name", ["a", "a1_.-", "a" * 96, "system.resources.read"])
def test_identifiers(name: str) -> None:
    Module().batch(name)(lambda batch: [])


def test_a_handler_can_be_called() -> None:
    with pytest.raises(RegistrationError, match="cannot be called"):
        Module().batch("x")(None)  # type: ignore[type-var]


@pytest.mark.parametrize("form", ["each", "batch"])
def test_a_decorator_without_parentheses_is_refused_at_once(form: str) -> None:
    def look_up(*arguments: object) -> None:
        return None

    with pytest.raises(RegistrationError, match=rf'as in @module\.{form}\("look-up"\)') as caught:
        getattr(Module(), form)(look_up)
    assert caught.value.code == "process.actions"


@pytest.mark.parametrize("form", ["each", "batch"])
def test_a_name_is_refused_before_there_is_a_handler(form: str) -> None:
    module = Module()
    with pytest.raises(RegistrationError, match="is not an identifier"):
        getattr(module, form)("Echo")
    # A decorator that was kept does not overwrite what came in between.
    first, second = getattr(module, form)("echo"), getattr(module, form)("echo")
    first(lambda *arguments: None)
    with pytest.raises(RegistrationError, match="has a handler already"):
        second(lambda *arguments: None)


def test_params_can_be_called() -> None:
    with pytest.raises(RegistrationError, match='the params of action "x" cannot be called'):
        Module().each("x", params="text")  # type: ignore[call-overload]


def test_a_raw_handler_can_be_called() -> None:
    with pytest.raises(RegistrationError, match="the handler cannot be called: it is None"):
        FakeHost(None).invoke("x", targets=["a"])  # type: ignore[arg-type]


ACTIONS: dict[str, tuple[list[str], str]] = {
    "none": ([], "it has no actions\n"),
    "some": (["b", "a"], "its actions: b, a\n"),
    "many": ([f"a{index:04}" for index in range(1_000)], ", a0278 and 721 more\n"),
    "long": (["n" * 93 + str(index) for index in range(100, 120)], "118 and 1 more\n"),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_an_unknown_action_names_the_others(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """P1-SDK-10, for the author who misspelt one: one bounded line, however many targets."""
    names, end = ACTIONS[name]
    module = Module()
    for action in names:
        module.batch(action)(lambda batch: [])
    action = "x" * 96
    FakeHost(module).invoke(action, targets=["a", "b"])
    told = capsys.readouterr().err
    assert told.startswith(f'action "{action}": not in this module; ')
    assert told.endswith(end if name != "many" else " more\n")
    assert told.count("\n") == 1
    assert len(told) <= 2_048
    if name == "many":
        FakeHost(module).invoke("x", targets=["a"])
        assert capsys.readouterr().err.endswith(end)


async def _late(*arguments: object) -> int:
    return 1


async def _stream(*arguments: object) -> "AsyncIterator[int]":
    yield 1


ASYNCHRONOUS: dict[str, tuple[str, Callable[..., object], str, str]] = {
    "each": ("each", _late, "output.value", "data is of the type coroutine"),
    "each-inside": (
        "each",
        lambda *arguments: {"x": [_late()]},
        "output.value",
        'data["x"][0] is of the type',
    ),
    "each-stream": ("each", _stream, "output.value", "async_generator"),
    "batch": ("batch", _late, "output.results_type", "results: a list of results is due"),
    "rows": ("batch", lambda batch: [_late() for _ in batch.targets], "output.results_type", "results[0]"),
    "row-data": (
        "batch",
        lambda batch: [target.data(_late()) for target in batch.targets],
        "output.value",
        'results[0], target "a": data is of',
    ),
}


@pytest.mark.parametrize("name", ASYNCHRONOUS)
@pytest.mark.filterwarnings("error")
def test_handlers_are_synchronous(name: str) -> None:
    """The refusal says so, and the interpreter adds no warning of what was never awaited."""
    form, handler, code, place = ASYNCHRONOUS[name]
    module = Module()
    getattr(module, form)("x")(handler)
    with pytest.raises(OutputError) as caught:
        FakeHost(module).invoke("x", targets=["a", "b", "c"])
    assert caught.value.code == code
    assert place in caught.value.message
    assert "(handlers are synchronous)" in caught.value.message


def test_an_asynchronous_handler_leaves_one_line(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(SDK / "src")!r})
from modberth_sdk import Module
module = Module()

@module.each("x")
async def x(target, parameters):
    return 1

module.run()
"""
    )
    done = run(request("x", ["a", "b"]), script)
    assert done.refusal == "output.value"
    assert done.stderr == done.line + "\n"


def test_a_deep_result_is_refused_as_any_other() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(OutputError) as caught:
        FakeHost(lambda request: [{"target": "a", "data": deep}]).invoke("x", targets=["a"])
    assert caught.value.code == "json.depth"


def test_a_result_that_is_none_says_what_one_is() -> None:
    with pytest.raises(OutputError) as caught:
        FakeHost(lambda request: [1, 2, 3]).invoke("x", targets=["a", "b", "c"])
    assert caught.value.message == (
        "results[0]: a result is a dict with target and data or error, this is of the type int; "
        "target.data(value) makes one"
    )


def test_the_decorator_gives_the_handler_back() -> None:
    module = Module()

    def handler(target: Target, parameters: dict[str, Any]) -> None:
        return None

    assert module.each("x")(handler) is handler


def test_a_handler_may_spoil_its_request() -> None:
    """Identity is kept apart from what the handler gets (P1-SDK-04)."""

    def handler(request: dict[str, Any]) -> list[dict[str, Any]]:
        rows = [{"target": target, "data": 1} for target in request["targets"]]
        request["id"] = "other"
        request["targets"].clear()
        request["parameters"] = None
        return rows

    written = exchange(io.BytesIO(request("x", ["a"], id="kept")).read, handler)
    result = json.loads(unframe(unframe(written)[1])[0])
    assert result == {"version": 1, "type": "result", "id": "kept", "results": [{"target": "a", "data": 1}]}


OTHER = {"target": "é", "data": None}
ROWS: dict[str, tuple[Any, str]] = {
    "none": (None, "output.results_type"),
    "dict": ({}, "output.results_type"),
    "generator": (iter([]), "output.results_type"),
    "text": ("rows", "output.results_type"),
    "row-none": ([None], "output.results_type"),
    "row-list": ([["target", "a"]], "output.results_type"),
    "no-target": ([{"data": 1}], "output.result_fields"),
    "target-number": ([{"target": 1, "data": 1}], "output.result_fields"),
    "unknown-field": ([{"target": "a", "data": 1, 5: 1}], "output.result_fields"),
    "unknown-first": ([{"target": "zzz"}], "output.target_unknown"),
    "other-composition": ([{"target": "e\u0301", "data": 1}], "output.target_unknown"),
    "surrogate-target": ([{"target": "\ud800", "data": 1}], "output.target_unknown"),
    "duplicate": ([{"target": "a", "data": 1}, {"target": "a"}], "output.target_duplicate"),
    "both": ([{"target": "a", "data": 1, "error": None}], "output.outcome_both"),
    "neither": ([{"target": "a"}], "output.outcome_missing"),
    "error-none": ([{"target": "a", "error": None}], "output.error_fields"),
    "error-text": ([{"target": "a", "error": "x"}], "output.error_fields"),
    "error-bare": ([{"target": "a", "error": {"code": "x"}}], "output.error_fields"),
    "error-more": ([{"target": "a", "error": {"code": "x", "message": "", "z": 1}}], "output.error_fields"),
    "error-code-number": ([{"target": "a", "error": {"code": 1, "message": ""}}], "output.error_fields"),
    "error-message-none": ([{"target": "a", "error": {"code": "x", "message": None}}], "output.error_fields"),
    "error-code-empty": ([{"target": "a", "error": {"code": "", "message": ""}}], "output.error_code"),
    "error-code-97": ([{"target": "a", "error": {"code": "a" * 97, "message": ""}}], "output.error_code"),
    "error-message-1025": (
        [{"target": "a", "error": {"code": "x", "message": "😀" * 1_025}}],
        "output.error_message",
    ),
    "error-message-nul": ([{"target": "a", "error": {"code": "x", "message": "\0"}}, OTHER], "json.nul"),
    "error-message-surrogate": (
        [{"target": "a", "error": {"code": "x", "message": "\ud800"}}, OTHER],
        "json.surrogate",
    ),
    "all-missing": ([], "output.target_missing"),
    "rows-before-missing": ([{"target": "é", "data": 1}, {"target": "é"}], "output.target_duplicate"),
    # Rows are judged before values: the missing target is named, not the NaN.
    "missing-before-value": ([{"target": "a", "data": float("nan")}], "output.target_missing"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_a_raw_handler(name: str) -> None:
    """P1-SDK-05, and the order of its checks; serve() gives the same handler the same treatment."""
    rows, code = ROWS[name]
    with pytest.raises(OutputError) as caught:
        exchange(io.BytesIO(request("x", ["a", "é"])).read, lambda request: rows)
    assert caught.value.code == code


@pytest.mark.parametrize("message", ["", "😀" * 1_024, "\x01\n"])
def test_error_messages_at_their_bounds(message: str) -> None:
    """P1-HOST-11."""
    module = Module()

    @module.each("fail")
    def fail(target: Target, parameters: dict[str, Any]) -> None:
        raise TargetError("a" * 96, message)

    error = FakeHost(module).invoke("fail", targets=["a"])["a"].error
    assert error is not None
    assert (error.code, error.message) == ("a" * 96, message)


def test_a_tuple_of_results_is_a_list() -> None:
    results = FakeHost(lambda request: ({"target": "a", "data": (1, 2)},)).invoke("x", targets=["a"])
    assert results["a"].data == [1, 2]


def test_serve_ends_the_process(tmp_path: Path) -> None:
    script = tmp_path / "raw.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(SDK / "src")!r})
from modberth_sdk import serve
serve(lambda request: [{{"target": t, "data": [request["action"], request["type"]]}} for t in request["targets"]])
print("never")
"""
    )
    done = run(request("any.action", ["a"]), script)
    assert done.results == [{"target": "a", "data": ["any.action", "invoke"]}]
    assert done.stderr == ""
    assert run(frame({}), script).refusal == "request.message"
