"""The SDK in its two forms: the package, and the one file that modules carry."""

import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from support import FAULTY, Run, run
from vendor import vendor

import modberth_sdk

#: The same examples in every run of CI, fresh ones on a desk.
settings.register_profile("sdk", deadline=None, database=None, derandomize="CI" in os.environ)
settings.load_profile("sdk")

#: Runs the faulty module on the vendored SDK: the loader of the example, then the module's own source.
WITH_VENDORED = """
import sys
from importlib.machinery import SourceFileLoader
loader = SourceFileLoader("modberth_sdk", {sdk!r})
sys.modules["modberth_sdk"] = type(sys)("modberth_sdk")
loader.exec_module(sys.modules["modberth_sdk"])
exec(compile(open({module!r}).read(), {module!r}, "exec"))
"""


@pytest.fixture(scope="session")
def vendored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the one-file SDK and this interpreter's bytecode."""
    folder = tmp_path_factory.mktemp("vendored")
    vendor(folder, [sys.executable])
    return folder


@pytest.fixture(scope="session")
def vendored_module(vendored: Path) -> ModuleType:
    """The one-file SDK, loaded beside the package under another name."""
    module = ModuleType("modberth_sdk_vendored")
    SourceFileLoader(module.__name__, str(vendored / "modberth_sdk.py")).exec_module(module)
    return module


class Form:
    """One form of the SDK: its namespace, and the entry that runs the faulty module on it."""

    def __init__(self, module: ModuleType, entry: Path) -> None:
        self.module: Any = module
        self.entry = entry

    def run(self, data: bytes) -> Run:
        return run(data, self.entry)


@pytest.fixture(scope="session")
def vendored_form(vendored: Path, vendored_module: ModuleType) -> Form:
    """The one file alone, for what takes too many processes to do twice."""
    entry = vendored / "faulty.py"
    entry.write_text(WITH_VENDORED.format(sdk=str(vendored / "modberth_sdk.py"), module=str(FAULTY)))
    return Form(vendored_module, entry)


@pytest.fixture(scope="session", params=["package", "vendored"])
def form(request: pytest.FixtureRequest, vendored_form: Form) -> Form:
    """Every test that takes this runs once on the package and once on the one file."""
    return vendored_form if request.param == "vendored" else Form(modberth_sdk, FAULTY)
