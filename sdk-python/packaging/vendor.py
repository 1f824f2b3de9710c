#!/usr/bin/env python3
"""Write the SDK as the one file that a module carries, with bytecode for the interpreters given.

    python3 packaging/vendor.py DIR [--bytecode PYTHON...]

DIR gets `modberth_sdk.py`, and for each interpreter `__pycache__/modberth_sdk.TAG.pyc`, TAG being its
`sys.implementation.cache_tag`. The file is the package's source, module after module in the order in which
they need each other, less the imports between them. The bytecode is of the unchecked kind: the interpreter
takes it without a look at the source's time or text, so it stays valid wherever the package is unpacked.
It is made without docstrings, which nobody reads at run time.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "modberth_sdk"
NAME = "modberth_sdk"
#: Stays out: it is for an author's tests, and a module never runs it.
LEFT_OUT = {"testing"}

HEADER = """\
# Made by `sdk-python/packaging/vendor.py` from the package modberth_sdk. Do not edit.
# SPDX-License-Identifier: Apache-2.0
"""

#: Run by the interpreter that the bytecode is for; `optimize=2` leaves docstrings out.
COMPILE = """
import py_compile, sys
folder, name = sys.argv[1:]
tag = sys.implementation.cache_tag
if sys.version_info < (3, 11):
    sys.exit(f"{sys.executable} is older than Python 3.11")
if not tag:
    sys.exit(f"{sys.executable} has no bytecode files")
cache = f"{folder}/__pycache__/{name}.{tag}.pyc"
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile(f"{folder}/{name}.py", cache, f"{name}.py", True, 2, mode)
print(cache)
"""


class VendorError(Exception):
    """The package has a shape that one file cannot have, or an interpreter failed."""


def amalgamate(package: Path = PACKAGE) -> str:
    """Give the text of the one file."""
    sources = {path.stem: path.read_text("utf-8") for path in sorted(package.glob("*.py"))}
    init = sources.pop("__init__")
    modules = {name: _Module(name, text) for name, text in sources.items() if name not in LEFT_OUT}
    _refuse_clashes(modules.values())
    root = _Module("__init__", init)
    order: list[str] = []
    for needed in root.needs:
        _visit(needed, modules, order, ())
    unused = modules.keys() - set(order)
    if unused:
        raise VendorError(f"nothing imports {sorted(unused)}")
    typing = [line for name in order for line in modules[name].typing]
    imports = [line for name in order for line in modules[name].imports]
    flag = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n" + "\n".join(_typing_block(typing))
    head = "\n\n".join([HEADER + root.docstring, "\n".join(sorted(set(imports))), flag])
    return "\n\n\n".join([head, *(_section(modules[name]) for name in order), root.body]) + "\n"


class _Module:
    """One module of the package, taken apart into what the one file needs."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.needs: list[str] = []
        self.imports: list[str] = []
        self.typing: list[str] = []
        self.names: set[str] = set()
        self.docstring = ""
        lines = text.splitlines()
        gone: set[int] = set()
        for node in ast.parse(text).body:
            span = range(node.lineno - 1, node.end_lineno or node.lineno)
            if _is_docstring(node):
                self.docstring = "\n".join(lines[line] for line in span)
                gone.update(span)
            elif isinstance(node, ast.ImportFrom) and node.level:
                self.needs.append(node.module or "")
                gone.update(span)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.extend(lines[line] for line in span)
                gone.update(span)
            elif _is_flag(node):
                gone.update(span)
            elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                self.typing.extend(_typing_lines(node, lines))
                gone.update(span)
            else:
                self.names.update(_bound(node))
        self.body = "\n".join(line for number, line in enumerate(lines) if number not in gone).strip("\n")


def _section(module: _Module) -> str:
    """Give a module under its name, its docstring as a comment."""
    text = module.docstring.replace('"""', "").strip().splitlines()
    title = [f"# ---- {module.name}.py", *(f"# {line}".rstrip() for line in text)]
    gap = ["", ""] if module.body.startswith(("class ", "def ", "@")) else [""]
    return "\n".join([*title, *gap, module.body])


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_flag(node: ast.stmt) -> bool:
    return ast.unparse(node) == "TYPE_CHECKING = False"


def _typing_lines(node: ast.If, lines: list[str]) -> list[str]:
    """Give the lines of a type-checking block, without imports from the package itself."""
    inner = {
        line
        for part in node.body
        if isinstance(part, ast.ImportFrom) and part.level
        for line in range(part.lineno - 1, part.end_lineno or part.lineno)
    }
    return [lines[line] for line in range(node.lineno, node.end_lineno or node.lineno) if line not in inner]


def _typing_block(lines: list[str]) -> list[str]:
    """Merge type-checking blocks: one import a name, imports first, the rest in order."""
    names: dict[str, set[str]] = {}
    rest: list[str] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["from"]:
            names.setdefault(words[1], set()).update(word.strip(",") for word in words[3:])
        elif words:
            rest.append(line)
    imports = [
        f"    from {module} import {', '.join(sorted(found))}" for module, found in sorted(names.items())
    ]
    return [*imports, "", *rest]


def _bound(node: ast.stmt) -> Iterator[str]:
    """Give the names that a statement of a module's top level binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.ImportFrom | ast.Import):
            yield from (alias.asname or alias.name for alias in part.names)


def _refuse_clashes(modules: Iterable[_Module]) -> None:
    owners: dict[str, str] = {}
    for module in modules:
        for name in module.names:
            if owners.setdefault(name, module.name) != module.name:
                raise VendorError(f"{name} is defined in {owners[name]} and in {module.name}")


def _visit(name: str, modules: dict[str, _Module], order: list[str], above: tuple[str, ...]) -> None:
    """Put a module behind those it needs."""
    if name in above:
        raise VendorError(f"imports run in a circle: {' '.join([*above, name])}")
    if name in order:
        return
    for needed in modules[name].needs:
        _visit(needed, modules, order, (*above, name))
    order.append(name)


def vendor(folder: Path, interpreters: list[str]) -> list[Path]:
    """Write the file and the bytecode, and give the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{NAME}.py"
    source.write_text(amalgamate(), "utf-8")
    # Bytecode of an older source would be taken for this one's.
    for stale in (folder / "__pycache__").glob(f"{NAME}.*.pyc"):
        stale.unlink()
    written = [source]
    for interpreter in interpreters:
        command = [interpreter, "-I", "-S", "-B", "-c", COMPILE, str(folder), NAME]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise VendorError(f"{interpreter} made no bytecode: {done.stderr.strip()}")
        written.append(Path(done.stdout.strip()))
    return written


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="where the files go; made where it is missing"
    )
    parser.add_argument(
        "--bytecode",
        nargs="+",
        default=[],
        metavar="PYTHON",
        help="interpreters (3.11 or newer) to compile for",
    )
    arguments = parser.parse_args()
    try:
        for path in vendor(arguments.folder, arguments.bytecode):
            print(path)
    except (VendorError, OSError) as error:
        print(f"vendor: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
