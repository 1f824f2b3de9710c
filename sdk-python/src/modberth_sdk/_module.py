"""A module: actions by name, each with one handler."""

from ._batch import Batch, Target
from ._codes import PROCESS_ACTIONS
from ._errors import RegistrationError, TargetError
from ._process import serve
from ._text import is_identifier
from ._trace import write_trace, write_unknown_action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar, overload

    _P = TypeVar("_P")
    _Each = TypeVar("_Each", bound="Callable[[Target, dict[str, Any]], object]")
    _Batch = TypeVar("_Batch", bound="Callable[[Batch], object]")

#: The error of a target whose handler failed with anything but a TargetError.
_INTERNAL = ("internal", "The module failed on this target.")


class Module:
    """The actions of a module.

        module = Module()

        @module.each("echo")
        def echo(target: Target, parameters: dict[str, object]) -> dict[str, object]:
            return {"message": parameters["message"], "index": target.index}

        module.run()

    An action has one handler, of one of two forms: `each` for one target at a time, `batch` for all. Both
    raise a RegistrationError for a name that is no identifier or is taken, as soon as they are called.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[[Batch], object]] = {}

    if TYPE_CHECKING:

        @overload
        def each(self, action: str) -> "Callable[[_Each], _Each]": ...
        @overload
        def each(
            self, action: str, *, params: "Callable[..., _P]"
        ) -> "Callable[[Callable[[Target, _P], object]], Callable[[Target, _P], object]]": ...

    def each(self, action: str, *, params: "Callable[..., Any] | None" = None) -> "Callable[[Any], Any]":
        """Register a handler `(target, parameters) -> data` that is called once for each target.

        What it returns is the target's data. Where it raises a TargetError, the target gets that error;
        where it raises anything else, the target gets the error `internal`, the trace goes to standard
        error, and the other targets go on (P1-SDK-07).

        `params`, if given, makes the handler's second argument: it is called with the parameters as
        keyword arguments, once for each target. A dataclass is one such callable; a parameter that it does
        not take, or a missing one, is then an `internal` failure of every target.
        """
        self._check_name("each", action)
        if params is not None and not callable(params):
            raise RegistrationError(PROCESS_ACTIONS, f'the params of action "{action}" cannot be called')

        def register(handler: "Callable[[Target, Any], object]") -> "Callable[[Target, Any], object]":
            def run(batch: Batch) -> "list[dict[str, Any]]":
                return [_run_one(handler, target, batch.parameters, params) for target in batch.targets]

            self._register("each", action, handler, run)
            return handler

        return register

    def batch(self, action: str) -> "Callable[[_Batch], _Batch]":
        """Register a handler `(batch) -> results` that is called once with all targets (P1-SDK-03).

        It returns a list with one result for each target, in any order, made by `target.data(value)` or
        `target.error(code, message)`. Where it raises, the whole run fails.
        """
        self._check_name("batch", action)

        def register(handler: "_Batch") -> "_Batch":
            self._register("batch", action, handler, handler)
            return handler

        return register

    def respond(self, request: "dict[str, Any]") -> object:
        """The results for one checked request; an unknown action gives every target an error (P1-SDK-10).

        Standard error then names the actions that the module has.
        """
        batch = Batch(request)
        handler = self._handlers.get(batch.action)
        if handler is None:
            write_unknown_action(batch.action, self._handlers)
            message = f'This module has no action "{batch.action}".'
            return [target.error("unsupported_action", message) for target in batch.targets]
        return handler(batch)

    def run(self) -> "NoReturn":
        """Do the one exchange of this process, and end it; for what that means see `serve`."""
        serve(self.respond)

    def _check_name(self, form: str, action: object) -> None:
        """Refuse a name at once: a decorator without parentheses is never called a second time."""
        if callable(action):
            name = getattr(action, "__name__", "name").replace("_", "-")
            raise RegistrationError(
                PROCESS_ACTIONS,
                f"the action name {action!r} is not an identifier; "
                f'the decorator needs one, as in @module.{form}("{name}")',
            )
        if not isinstance(action, str) or not is_identifier(action):
            raise RegistrationError(PROCESS_ACTIONS, f"the action name {action!r} is not an identifier")
        if action in self._handlers:
            raise RegistrationError(PROCESS_ACTIONS, f'the action "{action}" has a handler already')

    def _register(self, form: str, action: str, handler: object, run: "Callable[[Batch], object]") -> None:
        # Once more: the name may have been taken since, where the decorator was kept.
        self._check_name(form, action)
        if not callable(handler):
            raise RegistrationError(PROCESS_ACTIONS, f'the handler of action "{action}" cannot be called')
        self._handlers[action] = run


def _run_one(
    handler: "Callable[[Target, Any], object]",
    target: Target,
    parameters: "dict[str, Any]",
    params: "Callable[..., Any] | None",
) -> "dict[str, Any]":
    try:
        return target.data(handler(target, parameters if params is None else params(**parameters)))
    except TargetError as error:
        return target.error(error.code, error.message)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        write_trace(error, target.id)
        return target.error(*_INTERNAL)
