"""Small questions about text, and how text is shown in a diagnostic."""

from ._limits import MAX_IDENTIFIER

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_IDENTIFIER = _LETTERS | frozenset("0123456789_.-")
_SHOWN = 64
_TOLD = 400


def is_identifier(text: str) -> bool:
    """Whether `text` is `[a-z][a-z0-9_.-]{0,95}`."""
    return 0 < len(text) <= MAX_IDENTIFIER and text[0] in _LETTERS and _IDENTIFIER.issuperset(text)


def has_surrogate(text: str) -> bool:
    """Whether `text` holds an unpaired surrogate, which UTF-8 cannot carry."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def quoted(text: str) -> str:
    """`text` as a JSON string of printable characters, cut after 64 code points with an ellipsis."""
    cut = text[:_SHOWN]
    shown = escaped(cut.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{shown}…"' if len(cut) < len(text) else f'"{shown}"'


def escaped(text: str) -> str:
    """`text` on one line: what does not print is written as `\\uXXXX`, in pairs beyond U+FFFF."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(char: str) -> str:
    if char.isprintable():
        return char
    point = ord(char)
    if point < 0x10000:
        return f"\\u{point:04x}"
    point -= 0x10000
    return f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}"


def kind_of(value: object) -> str:
    """What a value is, in words for a message."""
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    synchronous = " (handlers are synchronous)" if is_awaitable(value) else ""
    return f"of the type {name}{synchronous}"


def is_awaitable(value: object) -> bool:
    """Whether an `async def` made this: a coroutine or another awaitable, or an asynchronous generator."""
    return hasattr(type(value), "__await__") or hasattr(type(value), "__anext__")


def shortened(error: BaseException) -> str:
    """What an exception says, on one line of at most a few hundred characters."""
    try:
        text = str(error)
    except Exception:
        # An author's __str__ can fail as well.
        return "(its text failed)"
    return escaped(text[:_TOLD]) + ("…" if len(text) > _TOLD else "")
