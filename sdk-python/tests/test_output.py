"""Standard output belongs to the frames (P1-SDK-06)."""

from pathlib import Path

import pytest
from conftest import Form
from support import FAULTY, PYTHON, SDK, Run, request, run

INDEXES = [{"target": "a", "data": {"index": 0}}, {"target": "b", "data": {"index": 1}}]


@pytest.mark.parametrize(("action", "text"), [("print", "stray print\n"), ("child-print", "stray child\n")])
def test_stray_output_goes_to_standard_error(form: Form, action: str, text: str) -> None:
    done = form.run(request(action))
    assert done.results == INDEXES
    assert done.stderr == text


SCRIPT = """
import sys
sys.path.insert(0, {src!r})
{before}
from modberth_sdk import Module
module = Module()

@module.batch("ok")
def ok(batch):
{handler}
    return [target.data({{"index": target.index}}) for target in batch.targets]

module.run()
print("never")
"""


def run_script(tmp_path: Path, handler: str, before: str = "") -> Run:
    script = tmp_path / "script.py"
    body = "\n".join(f"    {line}" for line in handler.splitlines())
    script.write_text(SCRIPT.format(src=str(SDK / "src"), before=before, handler=body))
    return run(request(), script, cwd=tmp_path)


STRAY = {
    "descriptor": "import os; os.write(1, b'stray')",
    "kept-stream": "kept.write('stray')",
    "original-stream": "sys.__stdout__.write('stray')",
    "no-newline": "print('stray', end='')",
    "buffer": "sys.stdout.buffer.write(b'stray'); sys.stdout.flush()",
    "exec-child": "import os\nif os.fork() == 0: os.execv('/bin/echo', ['echo', '-n', 'stray'])\nos.wait()",
    "atexit": "import atexit; atexit.register(print, 'stray', end='')",
    "c": "import ctypes; ctypes.CDLL(None).printf(b'stray')",
    "thread": "import threading; threading.Thread(target=print, args=['stray'], kwargs={'end': ''}).start()",
}


@pytest.mark.parametrize("name", STRAY)
def test_every_way_of_printing(tmp_path: Path, name: str) -> None:
    done = run_script(tmp_path, STRAY[name], "from sys import stdout as kept")
    assert done.results == INDEXES
    assert done.stderr == "stray"


def test_text_buffered_before_the_run_goes_to_standard_error(tmp_path: Path) -> None:
    done = run_script(tmp_path, "pass", "print('early')")
    assert done.results == INDEXES
    assert done.stderr == "early\n"


def test_a_child_does_not_inherit_the_frames_descriptor(tmp_path: Path) -> None:
    handler = """
import os, subprocess
done = subprocess.run(["/bin/sh", "-c", "ls /proc/self/fd | wc -l"], stdout=subprocess.PIPE, close_fds=False)
sys.stderr.write(done.stdout.decode())
"""
    done = run_script(tmp_path, handler)
    assert done.results == INDEXES
    # The three standard streams, and the descriptor of the folder that ls itself reads.
    assert done.stderr == "4\n"


ENDINGS = {
    "exit-0": ("raise SystemExit(0)", "SystemExit"),
    "sys-exit": ("sys.exit('done')", "SystemExit: done"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "bad-text": (
        "class Odd(Exception):\n    def __str__(self): raise OSError\nraise Odd",
        "Odd: (its text failed)",
    ),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
    "memory": ("raise MemoryError", "MemoryError"),
    "long-text": ("raise ValueError('é\\n' * 100000)", "ValueError: é\\u000aé"),
    "surrogate-text": ("raise ValueError('\\ud800')", "ValueError: \\ud800"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_handler_that_raises_anything_is_a_refusal(tmp_path: Path, name: str) -> None:
    """P1-SDK-07: also what ends a process elsewhere; standard error stays bounded."""
    handler, shown = ENDINGS[name]
    done = run_script(tmp_path, handler)
    assert done.refusal == "output.handler_failed"
    assert shown in done.line
    assert len(done.stderr.encode()) < 8_192


def test_memory_that_runs_out_in_the_sdk_has_a_code_of_its_own(tmp_path: Path) -> None:
    before = """
import modberth_sdk._exchange
def encode_result(*arguments):
    raise MemoryError
modberth_sdk._exchange.encode_result = encode_result
"""
    assert run_script(tmp_path, "pass", before).refusal == "process.memory"


AUDIT = """
import posix
WATCHED = ("socket.", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.system", "os.remove", "os.rename",
           "os.mkdir", "os.link", "os.symlink", "os.truncate", "shutil.", "tempfile.", "ctypes.")
def watch(event, arguments):
    written = event == "open" and (arguments[2] or 0) & (posix.O_WRONLY | posix.O_RDWR | posix.O_CREAT)
    if written or event.startswith(WATCHED):
        posix.write(2, f"{event} {arguments}\\n".encode())
sys.addaudithook(watch)
"""


def test_the_sdk_uses_the_three_standard_streams_alone(tmp_path: Path) -> None:
    """P1-SDK-12: seen by the interpreter's own audit events, on success, and on a failure with its trace."""
    done = run_script(tmp_path, "pass", AUDIT)
    assert done.results == INDEXES
    assert done.stderr == ""
    failed = run_script(tmp_path, "raise ValueError('x')", AUDIT)
    assert failed.refusal == "output.handler_failed"
    assert failed.stderr.startswith("Traceback")
    # The watch does see what a handler does.
    seen = run_script(tmp_path, "import os\nos.mkdir('made'), os.rmdir('made')", AUDIT)
    assert seen.stderr.startswith("os.mkdir")


def test_a_closed_standard_error_object_is_no_failure(tmp_path: Path) -> None:
    assert run_script(tmp_path, "sys.stderr.close()").results == INDEXES


def test_nothing_after_run_is_reached(tmp_path: Path) -> None:
    assert run_script(tmp_path, "pass").stderr == ""


def test_a_slow_reader_gets_everything() -> None:
    """A pipe holds 65,536 bytes; the million of this result must all be waited for."""
    import os
    import subprocess

    targets = [f"t{i}" for i in range(64)]
    text = "x" * 16_000
    data = request("number-echo", targets, {"value": text})
    read, write = os.pipe()
    with subprocess.Popen(
        [*PYTHON, FAULTY], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
        received = b""
        while piece := os.read(read, 4_096):
            received += piece
        os.close(read)
        assert process.wait(60) == 0
    assert [row["data"] for row in Run(0, received, "").results] == [text] * 64
