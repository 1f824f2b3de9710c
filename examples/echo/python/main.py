"""Echo: every target gets the message back, with its place in the request."""

import sys
from importlib.machinery import SourceFileLoader

# Isolated mode has no import path to here: load the SDK beside this file by its path.
if "modberth_sdk" not in sys.modules:
    path = f"{__file__.rpartition('/')[0]}/modberth_sdk.py"
    sys.modules["modberth_sdk"] = type(sys)("modberth_sdk")
    SourceFileLoader("modberth_sdk", path).exec_module(sys.modules["modberth_sdk"])

from modberth_sdk import Module, Target, TargetError

module = Module()


@module.each("echo")
def echo(target: Target, parameters: dict[str, object]) -> dict[str, object]:
    """Give back the message and the target's index."""
    message = parameters.get("message")
    if not isinstance(message, str):
        raise TargetError("unsupported_action", "Echo needs a message.")
    return {"message": message, "index": target.index}


if __name__ == "__main__":
    module.run()
