"""Test a module without a process and without a host.

    from modberth_sdk.testing import FakeHost

    from main import module

    def test_echo() -> None:
        results = FakeHost(module).invoke("echo", targets=["a"], parameters={"message": "Hello"})
        assert results["a"].data == {"message": "Hello", "index": 0}

The fake host runs the very exchange that a process runs, over bytes in memory, and applies the host's rules
to both sides. What it cannot show: the sandbox, deadlines, and the parameter schema of a manifest.
"""

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from . import _codes as codes
from ._errors import ProtocolError, TargetError
from ._exchange import exchange
from ._frame import read_frame, require_end, write_frame
from ._module import Module
from ._read import read_object
from ._request import check_invoke
from ._write import Misfit, check_value, encode

__all__ = ["FakeHost", "Result", "codes"]

_REQUEST_ID = "0123456789abcdef0123456789abcdef"


class Result:
    """What one target got: data, or an error."""

    def __init__(self, target: str, outcome: Mapping[str, Any]) -> None:
        self.target = target
        self._outcome = outcome

    def __repr__(self) -> str:
        outcome = ", ".join(f"{name}={value!r}" for name, value in self._outcome.items() if name != "target")
        return f"Result(target={self.target!r}, {outcome})"

    @property
    def error(self) -> TargetError | None:
        """The target's error, or None where it has data."""
        error = self._outcome.get("error")
        return None if error is None else TargetError(error["code"], error["message"])

    @property
    def data(self) -> Any:
        """The target's data as the host reads it: a tuple has become a list. Raises the target's error."""
        error = self.error
        if error is not None:
            raise error
        return self._outcome["data"]


class FakeHost:
    """Invokes the actions of a module in this process.

    `module` is a Module, or a raw handler as `serve` takes it.
    """

    def __init__(self, module: "Module | Callable[[dict[str, Any]], object]") -> None:
        self._handler = module.respond if isinstance(module, Module) else module

    def invoke(
        self, action: str, *, targets: Sequence[str], parameters: Mapping[str, Any] | None = None
    ) -> dict[str, Result]:
        """Run one action and give the results by target, in request order.

        Raises a ProtocolError where no host would send this request, and an OutputError where the handler
        failed or gave what the host refuses; the code says which. What the handler prints goes to standard
        error, as in a process.
        """
        invoke = {
            "version": 1,
            "type": "invoke",
            "id": _REQUEST_ID,
            "action": action,
            "targets": list(targets),
            "parameters": {} if parameters is None else dict(parameters),
        }
        check_invoke(invoke)
        try:
            check_value(invoke, 0)
        except Misfit as misfit:
            raise ProtocolError(misfit.code, f"the request{misfit.path} {misfit.reason}") from None
        sent = write_frame(encode({"version": 1, "type": "hello", "host_api": 1})) + write_frame(
            encode(invoke)
        )
        with redirect_stdout(sys.stderr):
            received = exchange(io.BytesIO(sent).read, self._handler)
        return self._results(received, list(targets))

    @staticmethod
    def _results(received: bytes, targets: list[str]) -> dict[str, Result]:
        """Read the answer as a host does, with the strict reader."""
        read = io.BytesIO(received).read
        read_object(read_frame(read, 1), 1)
        result = read_object(read_frame(read, 2), 2)
        require_end(read, 2)
        rows = {row["target"]: Result(row["target"], row) for row in result["results"]}
        return {target: rows[target] for target in targets}
