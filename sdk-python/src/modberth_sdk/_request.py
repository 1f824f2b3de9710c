"""The two messages of the host, checked field by field."""

from ._codes import (
    REQUEST_HOST_API,
    REQUEST_ID,
    REQUEST_MESSAGE,
    REQUEST_PARAMETERS_TYPE,
    REQUEST_TARGET_CHARACTER,
    REQUEST_TARGET_COUNT,
    REQUEST_TARGET_DUPLICATE,
    REQUEST_TARGET_LENGTH,
    REQUEST_TARGET_TYPE,
    REQUEST_VERSION,
)
from ._errors import ProtocolError
from ._limits import HOST_API, MAX_ID, MAX_TARGETS, PROTOCOL
from ._text import is_identifier, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HELLO_FIELDS = {"version", "type", "host_api"}
_INVOKE_FIELDS = {"version", "type", "id", "action", "targets", "parameters"}


def check_hello(message: "dict[str, Any]") -> None:
    """Refuse anything but `{"version":1,"type":"hello","host_api":1}`."""
    _check_kind(message, 1, "hello", _HELLO_FIELDS)
    host_api = message["host_api"]
    if type(host_api) is not int or host_api != HOST_API:
        raise ProtocolError(
            REQUEST_HOST_API, f"frame 1: host_api is {_shown(host_api)}, this module needs {HOST_API}"
        )


def check_invoke(message: "dict[str, Any]") -> None:
    """Refuse an invoke message whose fields, id, action, targets or parameters are not the protocol's."""
    _check_kind(message, 2, "invoke", _INVOKE_FIELDS)
    request_id = message["id"]
    if type(request_id) is not str:
        raise ProtocolError(REQUEST_ID, f"frame 2: id is {_shown(request_id)}, not a string")
    if not 0 < len(request_id) <= MAX_ID:
        raise ProtocolError(
            REQUEST_ID, f"frame 2: id has {len(request_id)} code points, the limit is 1 to {MAX_ID}"
        )
    action = message["action"]
    if type(action) is not str or not is_identifier(action):
        raise ProtocolError(REQUEST_MESSAGE, f"frame 2: action is {_shown(action)}, not an identifier")
    targets = message["targets"]
    if type(targets) is not list:
        raise ProtocolError(REQUEST_MESSAGE, f"frame 2: targets is {_shown(targets)}, not an array")
    if not 0 < len(targets) <= MAX_TARGETS:
        raise ProtocolError(
            REQUEST_TARGET_COUNT, f"frame 2: {len(targets)} targets, the limit is 1 to {MAX_TARGETS}"
        )
    _check_targets(targets)
    parameters = message["parameters"]
    if type(parameters) is not dict:
        raise ProtocolError(
            REQUEST_PARAMETERS_TYPE, f"frame 2: parameters is {_shown(parameters)}, not an object"
        )


def _check_targets(targets: "list[Any]") -> None:
    seen: dict[str, int] = {}
    for index, target in enumerate(targets):
        if type(target) is not str:
            raise _target_error(REQUEST_TARGET_TYPE, index, f"{_shown(target)} is not a string")
        if not 0 < len(target) <= MAX_ID:
            length = f"{quoted(target)} has {len(target)} code points, the limit is 1 to {MAX_ID}"
            raise _target_error(REQUEST_TARGET_LENGTH, index, length)
        for char in "/\\:\0":
            if char in target:
                raise _target_error(
                    REQUEST_TARGET_CHARACTER, index, f"{quoted(target)} contains {quoted(char)}"
                )
        if target in seen:
            twice = f"{quoted(target)} stands at targets[{seen[target]}] already"
            raise _target_error(REQUEST_TARGET_DUPLICATE, index, twice)
        seen[target] = index


def _target_error(code: str, index: int, reason: str) -> ProtocolError:
    return ProtocolError(code, f"frame 2: targets[{index}]: {reason}")


def _check_kind(message: "dict[str, Any]", frame: int, kind: str, fields: "set[str]") -> None:
    """Refuse another set of fields than `fields`, another version and another type."""
    if message.keys() != fields:
        missing = sorted(fields - message.keys())
        unknown = sorted(message.keys() - fields)
        reason = f"field {missing[0]} is missing" if missing else f"field {quoted(unknown[0])} is unknown"
        raise ProtocolError(REQUEST_MESSAGE, f"frame {frame}: {reason}; a {kind} message was due")
    version = message["version"]
    if type(version) is not int or version != PROTOCOL:
        raise ProtocolError(
            REQUEST_VERSION, f"frame {frame}: version is {_shown(version)}, this module speaks {PROTOCOL}"
        )
    if message["type"] != kind:
        raise ProtocolError(
            REQUEST_MESSAGE, f'frame {frame}: type is {_shown(message["type"])}, not "{kind}"'
        )


def _shown(value: object) -> str:
    """A value in a diagnostic: scalars as JSON writes them, text cut, the rest by its kind."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)
