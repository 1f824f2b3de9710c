"""Frames, and processes to feed them to."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "sdk-python"
FAULTY = SDK / "tests" / "faulty-module" / "main.py"
EXAMPLE = ROOT / "examples" / "echo" / "python"

#: The interpreter itself, not a shim, with the flags of the host (P1-HOST-30).
PYTHON = [str(Path(sys.executable).resolve()), "-I", "-S", "-B"]
#: A guard against a hang, far above the hundredth of a second that a run takes.
HANG = 60
MAX_FRAME = 1_048_576
HELLO: dict[str, Any] = {"version": 1, "type": "hello", "host_api": 1}
ANSWER: dict[str, Any] = {"version": 1, "type": "hello", "protocol": 1}
ID = "0123456789abcdef0123456789abcdef"


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def frame(message: object) -> bytes:
    return framed(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode())


def invoke(
    action: str = "ok", targets: object = ("a", "b"), parameters: object = None, **other: object
) -> dict[str, Any]:
    message: dict[str, Any] = {"version": 1, "type": "invoke", "id": ID, "action": action}
    return {**message, "targets": targets, "parameters": {} if parameters is None else parameters, **other}


def request(
    action: str = "ok", targets: object = ("a", "b"), parameters: object = None, **other: object
) -> bytes:
    """Both frames of a host."""
    return frame(HELLO) + frame(invoke(action, targets, parameters, **other))


@dataclass(frozen=True)
class Run:
    """What became of one process."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def refusal(self) -> str:
        """The code of the one diagnostic line; asserts all that P1-SDK-07 says of a refusal."""
        assert self.status == 1, self.stderr
        assert self.stdout == b""
        assert self.stderr.endswith("\n")
        line = self.line
        assert line.startswith("modberth: "), line
        assert len(line.encode()) < 2_048
        assert line.isprintable(), line
        return line.split(": ")[1]

    @property
    def line(self) -> str:
        return self.stderr.rstrip("\n").split("\n")[-1]

    @property
    def result(self) -> dict[str, Any]:
        """The result message, after the exact hello and with nothing behind it (P1-SDK-04)."""
        assert self.status == 0, self.stderr
        hello, rest = unframe(self.stdout)
        assert json.loads(hello) == ANSWER
        payload, rest = unframe(rest)
        assert rest == b""
        result: dict[str, Any] = json.loads(payload)
        assert list(result) == ["version", "type", "id", "results"]
        assert (result["version"], result["type"]) == (1, "result")
        return result

    @property
    def results(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.result["results"]
        return rows


def unframe(data: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(data[:4], "big")
    assert len(data) >= end > 4
    return data[4:end], data[end:]


def run(data: bytes, *entry: object, python: "list[str] | None" = None, cwd: "Path | None" = None) -> Run:
    """Feed `data` to an entry and wait."""
    command = [*(python or PYTHON), *map(str, entry or (FAULTY,))]
    done = subprocess.run(command, input=data, capture_output=True, timeout=HANG, check=False, cwd=cwd)
    return Run(done.returncode, done.stdout, done.stderr.decode())


def run_in_pieces(pieces: "list[bytes]", *entry: object) -> Run:
    """Feed the pieces one write at a time over an unbuffered pipe."""
    command = [*PYTHON, *map(str, entry or (FAULTY,))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        for piece in pieces:
            process.stdin.write(piece)
        stdout, stderr = process.communicate(timeout=HANG)
        return Run(process.returncode, stdout, stderr.decode())
