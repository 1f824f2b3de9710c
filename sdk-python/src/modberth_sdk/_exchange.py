"""One run of process protocol 1 over any input: two frames in, the handler, two frames out."""

from ._codes import OUTPUT_HANDLER_FAILED, PROCESS_ACTIONS
from ._errors import OutputError, RegistrationError
from ._frame import read_frame, require_end, write_frame
from ._limits import PROTOCOL
from ._read import read_object
from ._request import check_hello, check_invoke
from ._results import encode_result
from ._text import kind_of, shortened
from ._trace import open_traces, write_trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._frame import Read

    #: The raw form of a handler: from the whole request to the full list of results.
    Handler = Callable[[dict[str, Any]], object]

_HELLO_PAYLOAD = b'{"version":1,"type":"hello","protocol":%d}' % PROTOCOL


def exchange(read: "Read", handler: "Handler") -> bytes:
    """Both answer frames, complete, or a ModberthError and nothing (P1-SDK-04, P1-SDK-07)."""
    if not callable(handler):
        raise RegistrationError(PROCESS_ACTIONS, f"the handler cannot be called: it is {kind_of(handler)}")
    open_traces()
    check_hello(read_object(read_frame(read, 1), 1))
    request = read_object(read_frame(read, 2), 2)
    check_invoke(request)
    require_end(read, 2)
    # Copies: the handler may do with its request what it likes.
    request_id: str = request["id"]
    targets: list[str] = request["targets"][:]
    action: str = request["action"]
    try:
        results = handler(request)
    except BaseException as error:
        # Also SystemExit: a handler that ends the process has given no result.
        write_trace(error)
        raised = f"{type(error).__name__}: {shortened(error)}"
        raise OutputError(
            OUTPUT_HANDLER_FAILED, f'the handler of action "{action}" raised {raised}'
        ) from None
    return write_frame(_HELLO_PAYLOAD) + write_frame(encode_result(request_id, targets, results))
