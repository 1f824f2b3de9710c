"""The one file is the package: the same source, the same names, made the same way every time."""

import ast
import marshal
import subprocess
import sys
from pathlib import Path
from types import CodeType, ModuleType

import pytest
import vendor
from support import PYTHON, SDK
from vendor import NAME, PACKAGE, VendorError, amalgamate

import modberth_sdk

PROGRAM = SDK / "packaging" / "vendor.py"
MODULES = sorted(path for path in PACKAGE.glob("_*.py") if path.stem != "__init__")


def pieces(text: str) -> list[str]:
    """Give the statements of a file that are not docstrings, imports or for type checkers."""
    kept = []
    for node in ast.parse(text).body:
        unparsed = ast.unparse(node)
        if isinstance(node, ast.ImportFrom | ast.Import):
            continue
        if (
            isinstance(node, ast.Expr)
            or unparsed == "TYPE_CHECKING = False"
            or unparsed.startswith("if TYPE_CHECKING:")
        ):
            continue
        kept.append(unparsed)
    return kept


def test_every_statement_of_the_package_is_in_the_file_and_no_other() -> None:
    written = pieces(amalgamate())
    source = [
        piece for path in [*MODULES, PACKAGE / "__init__.py"] for piece in pieces(path.read_text("utf-8"))
    ]
    assert sorted(written) == sorted(source)
    assert len(written) > 100


def test_the_public_names_are_the_same(vendored_module: ModuleType) -> None:
    assert vendored_module.__all__ == modberth_sdk.__all__
    assert vendored_module.__version__ == modberth_sdk.__version__
    for name in modberth_sdk.__all__:
        assert hasattr(vendored_module, name)


def test_what_is_written_is_the_amalgamation(vendored: Path) -> None:
    text = (vendored / f"{NAME}.py").read_text("utf-8")
    assert text == amalgamate()
    assert ast.get_docstring(ast.parse(text), clean=False) == modberth_sdk.__doc__
    assert text.startswith("# Made by `sdk-python/packaging/vendor.py`")


def test_the_file_is_formatted_and_typed_like_the_package(vendored: Path) -> None:
    """An author's editor reads its types from the file itself."""
    config = str(SDK / "pyproject.toml")
    file = str(vendored / f"{NAME}.py")
    ruff = [sys.executable, "-m", "ruff", "format", "--check", "--no-cache", "--config", config, file]
    subprocess.run(ruff, check=True, capture_output=True)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={vendored}/mypy", file]
    done = subprocess.run(mypy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_command(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(PROGRAM),
        str(tmp_path / "new" / "folder"),
        "--bytecode",
        sys.executable,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        str(tmp_path / "new" / "folder" / f"{NAME}.py"),
        str(tmp_path / "new" / "folder" / "__pycache__" / f"{NAME}.{sys.implementation.cache_tag}.pyc"),
    ]


def bytecode(folder: Path) -> bytes:
    (path,) = (folder / "__pycache__").iterdir()
    return path.read_bytes()


def strings(code: CodeType) -> set[str]:
    found = {constant for constant in code.co_consts if isinstance(constant, str)}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= strings(constant)
    return found


def test_bytecode_is_unchecked_without_docstrings_and_without_the_makers_paths(vendored: Path) -> None:
    data = bytecode(vendored)
    # PEP 552: bit 0 says that a hash is there, bit 1 that it is to be checked.
    assert int.from_bytes(data[4:8], "little") == 1
    code = marshal.loads(data[16:])
    assert code.co_filename == f"{NAME}.py"
    assert not any("P1-SDK" in text for text in strings(code))


def test_bytecode_is_the_same_wherever_it_is_made(vendored: Path, tmp_path: Path) -> None:
    """A package's digest does not depend on the folder it was built in."""
    vendor.vendor(tmp_path / "elsewhere", [sys.executable])
    assert bytecode(tmp_path / "elsewhere") == bytecode(vendored)


def test_stale_bytecode_is_removed(tmp_path: Path) -> None:
    """Nobody would notice it: it is taken without a look at the source."""
    stale = tmp_path / "__pycache__" / f"{NAME}.cpython-399.pyc"
    other = tmp_path / "__pycache__" / "other.cpython-311.pyc"
    stale.parent.mkdir()
    stale.touch()
    other.touch()
    vendor.vendor(tmp_path, [])
    assert not stale.exists()
    assert other.exists()


def test_a_failing_interpreter_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), "--bytecode", "/bin/false"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("vendor: /bin/false made no bytecode")
    missing = [*command[:-1], "/does/not/exist"]
    assert subprocess.run(missing, capture_output=True, check=False).returncode == 1


def package(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


SHAPES = {
    "circle": (
        {"__init__": "from ._a import x", "_a": "from ._b import y", "_b": "from ._a import x"},
        "circle",
    ),
    "clash": (
        {"__init__": "from ._a import x\nfrom ._b import y", "_a": "x = 1", "_b": "y = x = 1"},
        "x is defined in",
    ),
    "unused": ({"__init__": "from ._a import x", "_a": "x = 1", "_b": "y = 1"}, "nothing imports"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_package_that_cannot_be_one_file_is_refused(tmp_path: Path, name: str) -> None:
    modules, reason = SHAPES[name]
    with pytest.raises(VendorError, match=reason):
        amalgamate(package(tmp_path, **modules))


def test_the_file_runs_by_the_plainest_import(vendored: Path) -> None:
    script = f"import sys; sys.path.insert(0, {str(vendored)!r}); import modberth_sdk; print(modberth_sdk.__version__)"
    done = subprocess.run([*PYTHON, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == modberth_sdk.__version__
