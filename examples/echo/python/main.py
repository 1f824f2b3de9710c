"""Echo: every target gets the message back, with its place in the request."""

import sys
from importlib.machinery import SourceFileLoader

# Load the SDK that stands beside this file by its exact path: isolated mode has no import path, and needs none.
if "modberth_sdk" not in sys.modules:
    loader = SourceFileLoader("modberth_sdk", f"{__file__.rpartition('/')[0]}/modberth_sdk.py")
    sys.modules["modberth_sdk"] = type(sys)("modberth_sdk")
    loader.exec_module(sys.modules["modberth_sdk"])

from modberth_sdk import Module, Target, TargetError

module = Module()


@module.each("echo")
def echo(target: Target, parameters: dict[str, object]) -> dict[str, object]:
    """Give back the message and the target's index."""
    if "message" not in parameters:
        raise TargetError("unsupported_action", "Echo needs the parameter message.")
    return {"message": parameters["message"], "index": target.index}


if __name__ == "__main__":
    module.run()
