"""Frames: a four-byte big-endian length, then that many bytes of JSON (P1-FRAME-01)."""

from ._codes import FRAME_EMPTY, FRAME_EXTRA, FRAME_MISSING, FRAME_TOO_LARGE, FRAME_TRUNCATED
from ._errors import ProtocolError
from ._limits import MAX_FRAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    #: Gives at most that many bytes, fewer when fewer are there, none at the end of input.
    Read = Callable[[int], bytes]


def read_frame(read: "Read", number: int) -> bytes:
    """The payload of frame `number`, refused on its four header bytes where they say enough."""
    header = _read_exactly(read, 4)
    if not header:
        raise ProtocolError(FRAME_MISSING, f"frame {number}: the input ends where this frame is due")
    if len(header) < 4:
        raise ProtocolError(
            FRAME_TRUNCATED,
            f"frame {number}: the input ends inside the header, after {len(header)} of 4 bytes",
        )
    length = int.from_bytes(header, "big")
    if length == 0:
        raise ProtocolError(
            FRAME_EMPTY, f"frame {number}: the header declares 0 bytes, at least 2 are needed"
        )
    if length > MAX_FRAME:
        raise ProtocolError(
            FRAME_TOO_LARGE, f"frame {number}: the header declares {length} bytes, the limit is {MAX_FRAME}"
        )
    payload = _read_exactly(read, length)
    if len(payload) < length:
        raise ProtocolError(
            FRAME_TRUNCATED,
            f"frame {number}: the input ends inside the payload, after {len(payload)} of {length} bytes",
        )
    return payload


def require_end(read: "Read", number: int) -> None:
    """Refuse any byte after frame `number`."""
    if read(1):
        raise ProtocolError(FRAME_EXTRA, f"frame {number + 1}: bytes follow the last frame, frame {number}")


def write_frame(payload: bytes) -> bytes:
    """`payload` with its header."""
    return len(payload).to_bytes(4, "big") + payload


def _read_exactly(read: "Read", length: int) -> bytes:
    """`length` bytes, or what there is before the end of input."""
    data = read(length)
    if len(data) == length or not data:
        return data
    parts = [data]
    missing = length - len(data)
    while missing:
        data = read(missing)
        if not data:
            break
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)
