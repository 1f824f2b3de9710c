"""The exceptions.

ModberthError
 +-- TargetError        raised by a handler: this one target failed
 +-- RegistrationError  the module's own table of actions is wrong (also a ValueError)
 +-- ProtocolError      what came in is not a request this SDK may act on
 +-- OutputError        what the handler gave is not a result the host would take
"""


class ModberthError(Exception):
    """The base of every exception of this SDK.

    `code` is a stable, dotted name and `message` says for people what happened and where.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class TargetError(ModberthError):
    """Raise it in an each-target handler: this target gets the error, the others their data.

    `code` is an identifier of your own, `[a-z][a-z0-9_.-]{0,95}`; `message` is text for people, at most
    1,024 code points, without NUL. Anything else is refused when the batch is done (P1-HOST-11).

        raise TargetError("not_found", "There is no such machine.")
    """


class RegistrationError(ModberthError, ValueError):
    """An action was registered twice, under a name that is no identifier, or without a handler."""


class ProtocolError(ModberthError):
    """The input is not the two frames of process protocol 1; nothing was run.

    The codes begin with `frame.`, `json.` or `request.`.
    """


class OutputError(ModberthError):
    """The handler failed, or its results are not what the host accepts; nothing was written.

    The codes begin with `output.` or `json.`, or are `frame.too_large`.
    """
