"""Make a Modberth process module in fifteen lines.

    from modberth_sdk import Module, Target

    module = Module()

    @module.each("echo")
    def echo(target: Target, parameters: dict[str, object]) -> dict[str, object]:
        return {"message": parameters["message"], "index": target.index}

    if __name__ == "__main__":
        module.run()

The input of a module is a request that the host has checked, over a channel it inherits from the host. The
SDK checks what it needs to answer well; it is no gateway for JSON of unknown origin. It uses the three
standard streams alone: it opens no socket, starts no process and writes no file. A handler must leave no
process behind, detached or not, and write nothing outside the sandbox (P1-SDK-12, P1-SDK-13).
"""

from ._batch import Batch, Target
from ._errors import ModberthError, OutputError, ProtocolError, RegistrationError, TargetError
from ._module import Module
from ._process import serve

__all__ = [
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

__version__ = "0.1.0"
