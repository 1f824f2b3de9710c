"""The package as others see it: names, documentation, types, the wheel."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import EXAMPLE, ROOT, SDK, request, run

import modberth_sdk
from modberth_sdk import _codes, testing
from modberth_sdk._limits import MAX_FRAME

README = (SDK / "README.md").read_text("utf-8")


def test_exported_names() -> None:
    """A change here is a change of the public interface."""
    assert sorted(modberth_sdk.__all__) == [
        "Batch",
        "ModberthError",
        "Module",
        "OutputError",
        "ProtocolError",
        "RegistrationError",
        "Target",
        "TargetError",
        "__version__",
        "serve",
    ]
    assert testing.__all__ == ["FakeHost", "Result", "codes"]
    public = {
        name
        for name, value in vars(modberth_sdk).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public <= set(modberth_sdk.__all__)


def test_every_public_name_is_documented() -> None:
    things = [getattr(modberth_sdk, name) for name in modberth_sdk.__all__ if name != "__version__"]
    for thing in [*things, testing.FakeHost, testing.Result]:
        assert inspect.getdoc(thing), thing
        if inspect.isclass(thing):
            for name, member in vars(thing).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert member.__doc__, f"{thing.__name__}.{name}"


def test_the_tree_of_exceptions() -> None:
    for error in (modberth_sdk.TargetError, modberth_sdk.ProtocolError, modberth_sdk.OutputError):
        assert issubclass(error, modberth_sdk.ModberthError)
    assert str(modberth_sdk.TargetError("not_found", "no such machine")) == "not_found: no such machine"


def test_codes_are_those_of_the_one_list() -> None:
    listed = json.loads((ROOT / "conformance" / "errors.json").read_text("utf-8"))["codes"]
    wanted = {
        entry["code"].replace(".", "_").upper(): entry["code"] for entry in listed if "sdk" in entry["by"]
    }
    assert {name: value for name, value in vars(_codes).items() if name.isupper()} == wanted


def test_the_version_is_that_of_the_whole_project() -> None:
    (version,) = re.findall(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert modberth_sdk.__version__ == version
    assert f"## {version}" in (SDK / "CHANGELOG.md").read_text()


def blocks(language: str) -> list[tuple[str, str]]:
    """Give the README's code blocks, each with the comment before it."""
    pattern = rf"(?:<!-- (.+?) -->\n)?```{language}\n(.*?)```\n"
    return re.findall(pattern, README, re.DOTALL)


def test_the_readme_starts_with_the_echo_module() -> None:
    comment, text = blocks("python")[0]
    assert comment == "file: examples/echo/python/main.py"
    assert text == (EXAMPLE / "main.py").read_text("utf-8")


def test_the_readmes_other_modules_run(tmp_path: Path) -> None:
    """Each further block of Python is a module or a test that runs as it stands."""
    examples = [text for comment, text in blocks("python") if not comment]
    assert len(examples) >= 3
    for index, text in enumerate(examples):
        file = tmp_path / f"{'test_' if 'def test_' in text else 'module_'}{index}.py"
        file.write_text(f"import sys\nsys.path[:0] = [{str(SDK / 'src')!r}, {str(EXAMPLE)!r}]\n{text}")
        if file.name.startswith("test_"):
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
            subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
        else:
            action = re.findall(r'@module\.(?:each|batch)\("([a-z.-]+)"', text)
            done = run(request((action or ["any"])[0], ["a", "b"], {"text": "x"}), file)
            assert [row["target"] for row in done.results] == ["a", "b"]
            assert all("data" in row for row in done.results), done.stdout


def test_the_readmes_part_loads_the_files_beside_it(tmp_path: Path, vendored: Path) -> None:
    """It takes the place of the loading lines of an example, whose imports stand before it."""
    (part,) = [text for comment, text in blocks("python") if comment == "part: loading more files"]
    shutil.copy(vendored / "modberth_sdk.py", tmp_path)
    (tmp_path / "helper.py").write_text("def answer(request): return [{'target': 'a', 'data': 'helped'}]\n")
    file = tmp_path / "main.py"
    imports = "import sys\nfrom importlib.machinery import SourceFileLoader\n"
    use = "import helper\nfrom modberth_sdk import serve\nserve(helper.answer)\n"
    file.write_text(imports + part + use)
    assert run(request("any", ["a"]), file).results == [{"target": "a", "data": "helped"}]


@pytest.mark.parametrize(
    "words",
    [
        "a request that the host has checked",
        "no gateway for",
        "leave no process behind",
        "outside the sandbox",
    ],
)
def test_the_limits_of_an_sdk_are_documented(words: str) -> None:
    """P1-SDK-13: in the README and in the package's own documentation."""
    assert words in " ".join(README.split())
    assert words in " ".join((modberth_sdk.__doc__ or "").split())


CONSUMER = """
from dataclasses import dataclass
from typing import assert_type

from modberth_sdk import Batch, Module, Target, serve
from modberth_sdk.testing import FakeHost, Result


@dataclass(frozen=True)
class Echo:
    message: str


module = Module()


@module.each("plain")
def plain(target: Target, parameters: dict[str, object]) -> dict[str, object]:
    return {"message": parameters["message"], "index": target.index}


@module.each("typed", params=Echo)
def typed(target: Target, params: Echo) -> str:
    return params.message


@module.batch("all")
def everything(batch: Batch) -> list[dict[str, object]]:
    return [target.data(None) for target in batch.targets]


assert_type(FakeHost(module).invoke("plain", targets=["a"]), dict[str, Result])


def main() -> None:
    serve(lambda request: [{"target": target, "data": 1} for target in request["targets"]])
"""

WRONG = {
    "arguments turned": '@module.each("x")\ndef x(parameters: dict[str, object], target: Target) -> None: ...',
    "other params": '@module.each("x", params=Echo)\ndef y(target: Target, params: Target) -> None: ...',
    "a batch handler of targets": '@module.batch("x")\ndef z(target: Target) -> list[object]: return []',
    "a number as target": 'FakeHost(module).invoke("x", targets=[1])',
}


def mypy(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "consumer.py"
    file.write_text(text)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={tmp_path}/cache",
        str(file),
    ]
    environment = {**os.environ, "MYPYPATH": str(SDK / "src")}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)


def test_an_authors_types_are_checked(tmp_path: Path) -> None:
    """A right module is clean under --strict, and each wrong line is found."""
    right = mypy(tmp_path, CONSUMER)
    assert right.returncode == 0, right.stdout
    wrong = mypy(tmp_path, CONSUMER + "\n".join(f"\n{text}" for text in WRONG.values()))
    lines = {int(line.split(":")[1]) for line in wrong.stdout.splitlines() if ": error: " in line}
    assert len({line for line in lines if line > CONSUMER.count("\n")}) >= len(WRONG), wrong.stdout


def test_the_example_is_typed(tmp_path: Path) -> None:
    done = mypy(tmp_path, (EXAMPLE / "main.py").read_text())
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(SDK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    package = sorted(
        f"modberth_sdk/{path.name}" for path in (SDK / "src" / "modberth_sdk").iterdir() if path.is_file()
    )
    assert sorted(name for name in names if ".dist-info/" not in name) == package
    assert "modberth_sdk/py.typed" in names
    assert "Requires-Dist" not in metadata
    assert "Requires-Python: >=3.11\n" in metadata


def test_twine_finds_nothing(wheel: Path) -> None:
    files = sorted(wheel.parent.iterdir())
    assert len(files) == 2
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_tests_pass_on_the_built_wheel(wheel: Path, tmp_path: Path) -> None:
    """The installed package, not the source tree: the in-process tests again, on what a user would get."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        str(SDK / "pyproject.toml"),
    ]
    paths = f"pythonpath={tmp_path} {SDK / 'packaging'} {SDK / 'tests'}"
    files = [str(SDK / "tests" / f"test_{name}.py") for name in ("module", "testing", "write")]
    environment = {**os.environ, "EXPECTED_PACKAGE": str(tmp_path / "modberth_sdk")}
    done = subprocess.run(
        [*command, "-o", paths, *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout


def test_the_package_under_test_is_the_expected_one() -> None:
    expected = os.environ.get("EXPECTED_PACKAGE", str(SDK / "src" / "modberth_sdk"))
    assert str(Path(modberth_sdk.__file__).parent) == expected
    assert MAX_FRAME == 1_048_576
