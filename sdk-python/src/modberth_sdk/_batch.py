"""What a handler is given: targets, and the batch of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Target:
    """One target of the request.

    `id` is the host's opaque name for it, 1 to 128 code points, never changed in any way.
    `index` is its place in the request, counted from 0.
    """

    __slots__ = ("id", "index")

    def __init__(self, id: str, index: int) -> None:
        self.id = id
        self.index = index

    def __repr__(self) -> str:
        return f"Target(id={self.id!r}, index={self.index})"

    def data(self, value: object) -> "dict[str, Any]":
        """This target's result, where it went well: `value` is what JSON can carry."""
        return {"target": self.id, "data": value}

    def error(self, code: str, message: str) -> "dict[str, Any]":
        """This target's result, where it failed; for `code` and `message` see TargetError."""
        return {"target": self.id, "error": {"code": code, "message": message}}


class Batch:
    """One request: all its targets, and the parameters they share.

    `id` is the request's id, 1 to 128 code points; the SDK copies it into the answer. `action` is the
    action's name. `targets` has 1 to 64 distinct targets in request order.
    `parameters` is the object the host has checked against the action's schema. `request` is the whole
    message as it came: version, type, id, action, targets and parameters.
    """

    __slots__ = ("action", "id", "parameters", "request", "targets")

    def __init__(self, request: "dict[str, Any]") -> None:
        self.id: str = request["id"]
        self.action: str = request["action"]
        self.targets = tuple([Target(id, index) for index, id in enumerate(request["targets"])])
        self.parameters: dict[str, Any] = request["parameters"]
        self.request = request

    def __repr__(self) -> str:
        return f"Batch(action={self.action!r}, targets={self.targets!r}, parameters={self.parameters!r})"
