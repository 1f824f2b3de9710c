"""Frames: what the process reads, and where it refuses (P1-FRAME, P1-SDK-01)."""

import os
import subprocess

import pytest
from conftest import Form
from support import FAULTY, HANG, HELLO, MAX_FRAME, PYTHON, frame, framed, invoke, request, run_in_pieces

GOOD = request()
SECOND = frame(HELLO)

REFUSED = {
    # P1-FRAME-05: cut short in the header or in the payload, of either frame.
    "header-1": (b"\0", "frame.truncated", "frame 1"),
    "header-3": (b"\0\0\0", "frame.truncated", "3 of 4"),
    "payload": (frame(HELLO)[:-1], "frame.truncated", "frame 1"),
    "payload-none": (b"\0\0\0\x29", "frame.truncated", "0 of 41"),
    "second-header": (SECOND + b"\0\0", "frame.truncated", "frame 2"),
    "second-payload": (GOOD[:-1], "frame.truncated", "frame 2"),
    # P1-FRAME-03: an empty payload.
    "empty": (b"\0\0\0\0", "frame.empty", "frame 1"),
    "second-empty": (SECOND + b"\0\0\0\0", "frame.empty", "frame 2"),
    # P1-FRAME-02: one byte over the limit, and the largest length there is.
    "limit": ((MAX_FRAME + 1).to_bytes(4, "big"), "frame.too_large", "1048577 bytes, the limit is 1048576"),
    "largest": (b"\xff\xff\xff\xff", "frame.too_large", "4294967295"),
    "second-limit": (SECOND + (MAX_FRAME + 1).to_bytes(4, "big"), "frame.too_large", "frame 2"),
    # P1-SDK-01: a missing and an extra frame.
    "nothing": (b"", "frame.missing", "frame 1"),
    "hello-only": (SECOND, "frame.missing", "frame 2"),
    "extra-byte": (GOOD + b"\0", "frame.extra", "frame 3"),
    "extra-frame": (GOOD + frame(HELLO), "frame.extra", "frame 3"),
    # P1-FRAME-03: no object.
    "array": (framed(b"[]"), "json.not_object", "frame 1, byte 0"),
    "second-array": (SECOND + framed(b"[1]"), "json.not_object", "frame 2, byte 0"),
    "text": (framed(b"hello"), "json.not_object", "frame 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_frames(form: Form, name: str) -> None:
    data, code, place = REFUSED[name]
    done = form.run(data)
    assert done.refusal == code
    assert place in done.line


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\x10\0\x01", b"\0\0\0\0"])
def test_a_length_is_refused_on_its_header_while_input_stays_open(data: bytes) -> None:
    """P1-FRAME-02."""
    with subprocess.Popen(
        [*PYTHON, FAULTY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.flush()
        # Input is closed only after the process has ended by itself.
        assert process.wait(HANG) == 1


def test_a_large_declared_length_costs_no_memory() -> None:
    """P1-FRAME-02: with an address space of 64 MiB, a length of 4 GiB is refused like any other."""
    limited = ["prlimit", f"--as={64 << 20}", *PYTHON]
    done = subprocess.run(
        [*limited, FAULTY], input=b"\xff\xff\xff\xff", capture_output=True, timeout=HANG, check=False
    )
    assert done.stderr.startswith(b"modberth: frame.too_large: "), done.stderr


def test_one_byte_at_a_time() -> None:
    """P1-FRAME-06."""
    whole = run_in_pieces([GOOD])
    single = run_in_pieces([bytes([byte]) for byte in GOOD])
    assert single.results == [{"target": "a", "data": {"index": 0}}, {"target": "b", "data": {"index": 1}}]
    assert single == whole


@pytest.mark.parametrize(
    "cut", [1, 2, 3, 4, 5, len(SECOND) - 1, len(SECOND), len(SECOND) + 1, len(SECOND) + 4]
)
def test_any_split(cut: int) -> None:
    """P1-FRAME-06: the header split, and both frames in one write."""
    assert run_in_pieces([GOOD[:cut], GOOD[cut:]]).results[1] == {"target": "b", "data": {"index": 1}}


def test_a_frame_of_the_limit_is_read(form: Form) -> None:
    """P1-FRAME-02: exactly 1,048,576 bytes."""
    filler = ["x" * 60_000] * 17
    message = invoke(parameters={"filler": filler, "rest": ""})
    missing = MAX_FRAME - len(frame(message)) + 4
    message["parameters"]["rest"] = "x" * missing
    data = frame(message)
    assert len(data) == 4 + MAX_FRAME
    assert form.run(frame(HELLO) + data).results[0]["data"] == {"index": 0}
    message["parameters"]["rest"] += "x"
    assert form.run(frame(HELLO) + frame(message)).refusal == "frame.too_large"


def test_the_length_counts_bytes(form: Form) -> None:
    """P1-FRAME-04: text of every UTF-8 width."""
    text = "aé€😀" * 50
    done = form.run(request("number-echo", ["t"], {"value": text}))
    assert done.results == [{"target": "t", "data": text}]
    assert text.encode() in done.stdout


def test_a_nonblocking_input_is_read() -> None:
    """The other end of a shared stream may have set O_NONBLOCK on it."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    with subprocess.Popen(
        [*PYTHON, FAULTY], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        os.close(read)
        for byte in GOOD:
            os.write(write, bytes([byte]))
        os.close(write)
        stdout, stderr = process.communicate(timeout=HANG)
    assert process.returncode == 0, stderr
    assert stdout.startswith(b"\0\0\0")


@pytest.mark.parametrize("closed", ["0<&-", "2>&-"])
def test_a_closed_standard_stream_is_refused(closed: str) -> None:
    """The copy of standard output must never take the number of another stream."""
    shell = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *PYTHON, str(FAULTY)]
    done = subprocess.run(shell, input=GOOD, capture_output=True, timeout=HANG, check=False)
    assert done.returncode == 1
    assert done.stdout == b""


def test_a_closed_output_is_a_failure() -> None:
    """P1-SDK-07: nothing can be written, so nothing is a success."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PYTHON, FAULTY], input=GOOD, stdout=write, stderr=subprocess.PIPE, timeout=HANG, check=False
    )
    os.close(write)
    assert done.returncode == 1
    assert done.stderr.startswith(b"modberth: process.io: ")
