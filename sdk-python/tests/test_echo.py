"""The echo example as its package carries it: exact echo, however it is loaded (P1-SDK-08, 09, 10)."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLE, HANG, HELLO, PYTHON, Run, frame, invoke, request, run, run_in_pieces
from vendor import NAME, vendor

MESSAGE = "Hello"
TAG = sys.implementation.cache_tag


def payload(folder: Path, *, bytecode: bool = True) -> Path:
    """Fill a folder like the package's payload."""
    vendor(folder, [sys.executable] if bytecode else [])
    shutil.copy(EXAMPLE / "main.py", folder)
    return folder


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return payload(tmp_path_factory.mktemp("payload")) / "main.py"


def expected(targets: list[str], message: object) -> list[dict[str, Any]]:
    return [
        {"target": target, "data": {"message": message, "index": index}}
        for index, target in enumerate(targets)
    ]


BATCHES = {
    "one": ["a"],
    "sixty-four": [f"target-{index}" for index in range(64)],
    "sixty-four-long": [f"{index:02}" + "😀" * 126 for index in range(64)],
    "one-byte": ["x" * 128],
    "two-byte": ["é" * 128],
    "three-byte": ["€" * 128],
    "four-byte": ["😀" * 128],
    "prototypes": [
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "hasOwnProperty",
        "__class__",
        "__init__",
    ],
    "spaces": [" a ", "a", " ", "..", ".", "b\nc", "\t", "\u00a0", "\u200b", "\ufeff"],
    "two-forms-of-one": ["\u00e9", "e\u0301", "\u212b", "\u00c5", "ß", "SS", "ss", "İ", "i"],
    "quotes": ['"', "'", "`", '"}', "${a}", "%s", "{0}", "\x01", "\x1f", "\x7f", "\x85", "\u2028", "\uffff"],
    "numbers": ["0", "00", "-0", "1e3", "null", "true", "NaN"],
}


@pytest.mark.parametrize("name", BATCHES)
def test_targets_come_back_unchanged(echo: Path, name: str) -> None:
    """P1-SDK-08, P1-HOST-14."""
    done = run(request("echo", BATCHES[name], {"message": MESSAGE}), echo)
    assert done.results == expected(BATCHES[name], MESSAGE)
    assert done.stderr == ""


MESSAGES = [
    "",
    "quotes \" ' \\ /",
    "\x01\x1f\x7f\x85",
    "\u2028\u2029",
    "e\u0301 \u00e9",
    "😀" * 1_000,
    "x" * 60_000,
    "\ufeff",
    "\uffff",
]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_messages_come_back_unchanged(echo: Path, message: str, ascii_only: bool) -> None:
    """P1-SDK-08: whether the host escapes what is not ASCII or not."""
    body = json.dumps(invoke("echo", ["a", "b"], {"message": message}), ensure_ascii=ascii_only).encode()
    done = run(frame(HELLO) + len(body).to_bytes(4, "big") + body, echo)
    assert done.results == expected(["a", "b"], message)


def test_one_byte_at_a_time(echo: Path) -> None:
    """P1-FRAME-06."""
    data = request("echo", BATCHES["two-forms-of-one"], {"message": "😀\u2028"})
    assert run_in_pieces([bytes([byte]) for byte in data], echo).results == expected(
        BATCHES["two-forms-of-one"], "😀\u2028"
    )


def test_without_its_message_and_with_another_action(echo: Path) -> None:
    """P1-SDK-10: each of the two is the error unsupported_action of every target."""
    for data in (request("echo", ["a", "b"]), request("other", ["a", "b"], {"message": "x"})):
        assert [row["error"]["code"] for row in run(data, echo).results] == ["unsupported_action"] * 2


FLAGS = """
import sys
from modberth_sdk import Module
module = Module()

@module.each("flags")
def flags(target, parameters):
    return [sys.flags.isolated, sys.flags.no_site, sys.path]

if __name__ == "__main__":
    module.run()
"""


def test_no_import_path_is_changed(tmp_path: Path) -> None:
    """P1-SDK-09: with the example's loader, isolated mode needs no mutable import path."""
    folder = payload(tmp_path)
    loader = (EXAMPLE / "main.py").read_text().partition("from modberth_sdk")[0]
    (folder / "main.py").write_text(loader + FLAGS)
    isolated, no_site, path = run(request("flags", ["a"]), folder / "main.py", cwd=Path("/")).results[0][
        "data"
    ]
    assert (isolated, no_site) == (1, 1)
    assert str(folder) not in path


#: What a bare interpreter has at start, by `-c`, and nothing that costs a start-up: no json, re, os, typing.
FORBIDDEN = {
    "json", "re", "os", "struct", "dataclasses", "typing", "enum", "functools", "collections", "runpy", "traceback",
    "importlib.util", "threading", "atexit", "abc.ABC", "ast", "inspect", "contextlib", "__future__", "site",
}  # fmt: skip


def test_the_sdk_imports_almost_nothing(tmp_path: Path) -> None:
    """The bar of a Python action's start: what costs time is not imported on the way of a success."""
    folder = payload(tmp_path)
    source = (folder / "main.py").read_text()
    (folder / "main.py").write_text(
        source.replace("    return {", "    sys.stderr.write('\\n'.join(sys.modules))\n    return {")
    )
    done = run(request("echo", ["a"], {"message": "x"}), folder / "main.py")
    loaded = set(done.stderr.split("\n"))
    assert done.results == expected(["a"], "x")
    assert {"modberth_sdk", "_json", "posix", "sys"} <= loaded
    assert not loaded & FORBIDDEN
    bare = subprocess.run(
        [*PYTHON, "-c", "import sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    extra = loaded - set(bare.stdout.split())
    assert {name.partition(".")[0] for name in extra} <= {"modberth_sdk", "_json", "importlib", "warnings"}


# How the SDK is found: each way runs with the host's flags, from another folder.


def check(done: Run) -> None:
    assert done.results == expected(["a", "b"], MESSAGE)
    assert done.stderr == ""


DATA = request("echo", ["a", "b"], {"message": MESSAGE})


def test_bytecode_that_fits_is_taken(tmp_path: Path) -> None:
    """The bytecode is unchecked: it runs even where the source beside it says something else."""
    folder = payload(tmp_path)
    (folder / f"{NAME}.py").write_text("raise RuntimeError('compiled from source')\n")
    check(run(DATA, folder / "main.py", cwd=Path("/")))


@pytest.mark.parametrize("state", ["absent", "of-another-version", "damaged", "empty"])
def test_source_is_compiled_where_no_bytecode_fits(tmp_path: Path, state: str) -> None:
    folder = payload(tmp_path)
    cache = folder / "__pycache__" / f"{NAME}.{TAG}.pyc"
    good = cache.read_bytes()
    match state:
        case "absent":
            cache.unlink()
        case "of-another-version":
            cache.write_bytes(b"\xa7\x0b\r\n" + good[4:])
        case "damaged":
            cache.write_bytes(b"nonsense" * 10)
        case "empty":
            cache.write_bytes(b"")
    before = sorted(path.name for path in folder.rglob("*"))
    check(run(DATA, folder / "main.py", cwd=Path("/")))
    # -B: nothing is written into a package.
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_a_read_only_folder_that_the_module_does_not_own(tmp_path: Path) -> None:
    folder = payload(tmp_path)
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    check(run(DATA, folder / "main.py"))


PLAIN = """
from modberth_sdk import Module

module = Module()


@module.each("echo")
def echo(target, parameters):
    return {"message": parameters["message"], "index": target.index}


if __name__ == "__main__":
    module.run()
"""


def test_a_folder_with_a_plain_import(tmp_path: Path) -> None:
    """An entry `…/__main__.py` runs as its folder, so a plain import finds what stands beside it."""
    vendor(tmp_path, [sys.executable])
    (tmp_path / "__main__.py").write_text(PLAIN)
    check(run(DATA, tmp_path, cwd=Path("/")))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_pyz_with_a_plain_import(tmp_path: Path, compression: int) -> None:
    vendor(tmp_path, [])
    archive = tmp_path / "echo.pyz"
    with zipfile.ZipFile(archive, "w", compression) as writer:
        writer.write(tmp_path / f"{NAME}.py", f"{NAME}.py")
        writer.writestr("__main__.py", PLAIN)
    check(run(DATA, archive, cwd=Path("/")))


def test_other_interpreters_of_this_machine(tmp_path: Path) -> None:
    """From 3.11 on, each with bytecode of its own, from one folder."""
    found = other_interpreters()
    folder = payload(tmp_path)
    vendor(folder, found)
    assert len(list((folder / "__pycache__").iterdir())) == len({tag(python) for python in found})
    for python in found:
        check(run(DATA, folder / "main.py", python=[python, "-I", "-S", "-B"]))


def tag(python: str) -> str:
    command = [python, "-I", "-S", "-c", "import sys; print(sys.implementation.cache_tag)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def other_interpreters() -> list[str]:
    """Give this interpreter and what stands beside it under other versions."""
    here = Path(sys.executable).resolve()
    candidates = [here, *here.parents[2].glob("3.*/bin/python3"), *Path("/usr/bin").glob("python3.[0-9]*")]
    found = []
    for candidate in dict.fromkeys(path.resolve() for path in candidates):
        probe = [str(candidate), "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            done = subprocess.run(probe, capture_output=True, timeout=HANG, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            found.append(str(candidate))
    return found


@pytest.mark.parametrize(
    "change",
    [
        "sys.modules['_json'] = None",
        "import _json; del _json.make_scanner, _json.make_encoder, _json.encode_basestring",
    ],
)
def test_an_interpreter_without_the_fast_parts(tmp_path: Path, change: str) -> None:
    """Where `_json` is missing or has another shape, `json` and the slow scanner do the work, as strictly."""
    folder = payload(tmp_path)
    main = folder / "main.py"
    main.write_text(main.read_text().replace("import sys\n", f"import sys\n{change}\n", 1))
    check(run(DATA, main))
    for body, code in ((b'{"a":1,"a":2}', "json.duplicate_key"), ('{"a":1٣}'.encode(), "json.syntax")):
        assert run(frame(HELLO) + len(body).to_bytes(4, "big") + body, main).refusal == code


def test_the_example_is_testable_without_a_process() -> None:
    """An author's test imports the example with the SDK installed; the loader then keeps that one."""
    script = f"""
import sys
sys.path[:0] = [{str(EXAMPLE)!r}, {str(EXAMPLE.parents[2] / "sdk-python" / "src")!r}]
from modberth_sdk.testing import FakeHost
from main import module
results = FakeHost(module).invoke("echo", targets=["a"], parameters={{"message": "x"}})
assert results["a"].data == {{"message": "x", "index": 0}}
"""
    subprocess.run([*PYTHON, "-c", script], check=True, timeout=HANG)


def test_the_manifest_and_its_examples() -> None:
    manifest = json.loads((EXAMPLE / "manifest.json").read_text())
    assert (manifest["id"], manifest["version"]) == ("org.example.echo.python", "1.0.0")
    assert manifest["runtime"] == {
        "kind": "python",
        "language": "python",
        "entry": "main.py",
        "platform": "linux",
        "architecture": "any",
        "protocol": 1,
    }
    (action,) = manifest["actions"]
    assert action["parameters"] == {"message": {"type": "string", "required": True}}
    examples = json.loads((EXAMPLE / "modberth.json").read_text())
    assert examples == {"examples": {"echo": [{"targets": ["a", "b"], "parameters": {"message": "Hello"}}]}}
