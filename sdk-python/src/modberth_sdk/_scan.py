"""The slow, exact reader of the strict JSON profile: it names the first fault of a document.

It runs only on a document that the fast reader refused (or where the interpreter has no fast reader),
so it is written for exactness: UTF-8 over the whole payload first, then left to right, first fault wins.
Recursion is bounded by the depth limit, because a value deeper than that is refused where it begins.
"""

from ._codes import (
    JSON_CONTROL,
    JSON_DEPTH,
    JSON_DUPLICATE_KEY,
    JSON_ENTRIES,
    JSON_ESCAPE,
    JSON_INTEGER_RANGE,
    JSON_NAME_LENGTH,
    JSON_NONFINITE,
    JSON_NOT_OBJECT,
    JSON_NUL,
    JSON_NUMBER,
    JSON_RESERVED_KEY,
    JSON_STRING_LENGTH,
    JSON_SURROGATE,
    JSON_SYNTAX,
    JSON_TRAILING,
    JSON_TRUNCATED,
    JSON_UTF8,
)
from ._limits import MAX_DEPTH, MAX_ENTRIES, MAX_INTEGER, MAX_NAME, MAX_STRING, RESERVED_NAME
from ._text import quoted

_WHITE = b" \t\n\r"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
# Right after a number, such a byte makes it a malformed number, not a number and something else.
_NUMBER_TAIL = _DIGITS + b"+-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ESCAPES = {34: '"', 92: "\\", 47: "/", 98: "\b", 102: "\f", 110: "\n", 114: "\r", 116: "\t"}
_QUOTE, _BACKSLASH, _OPEN, _CLOSE, _LIST, _END, _COMMA, _COLON, _MINUS = b'"\\{}[],:-'


class Fault(Exception):
    """A document breaks the profile: `code`, the byte offset in the payload, and why."""

    def __init__(self, code: str, offset: int, reason: str) -> None:
        super().__init__(code, offset, reason)
        self.code = code
        self.offset = offset
        self.reason = reason


def find_fault(payload: bytes) -> "Fault | None":
    """The first fault of `payload`, or None where it is an object of the strict profile."""
    try:
        payload.decode()
        _Scanner(payload).document()
    except UnicodeDecodeError as error:
        return Fault(JSON_UTF8, error.start, "not UTF-8")
    except Fault as fault:
        return fault
    return None


class _Scanner:
    """One pass over bytes that are UTF-8; every method takes and gives a byte offset."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def document(self) -> None:
        at = self.space(0)
        if self.due(at, "an object") != _OPEN:
            raise Fault(JSON_NOT_OBJECT, at, "the payload does not begin as a JSON object")
        at = self.space(self.members(at + 1, 0))
        if at < self.size:
            raise Fault(JSON_TRAILING, at, f"{self.shown(at)} follows the object")

    def value(self, at: int, depth: int) -> int:
        byte = self.due(at, "a value")
        if depth > MAX_DEPTH:
            raise Fault(JSON_DEPTH, at, f"a value at depth {depth}, the limit is {MAX_DEPTH}")
        if byte == _QUOTE:
            return self.string(at, MAX_STRING, JSON_STRING_LENGTH, "string")[1]
        if byte == _OPEN:
            return self.members(at + 1, depth)
        if byte == _LIST:
            return self.elements(at + 1, depth)
        for literal in (b"true", b"false", b"null"):
            if byte == literal[0]:
                return self.literal(at, literal)
        if byte == _MINUS or byte in _DIGITS:
            return self.number(at)
        raise self.misplaced(at, "a value", self.begins_number(at))

    def members(self, at: int, depth: int) -> int:
        at = self.space(at)
        if self.due(at, "a name or '}'") == _CLOSE:
            return at + 1
        names: set[str] = set()
        while True:
            if self.due(at, "a name") != _QUOTE:
                # The comma of 1,000 is no comma between members.
                thousands = self.data[at - 1] == _COMMA and self.is_digit(at - 2) and self.is_digit(at)
                raise self.misplaced(at, "a name", thousands)
            if len(names) == MAX_ENTRIES:
                raise Fault(JSON_ENTRIES, at, f"an object with more than {MAX_ENTRIES} members")
            start = at
            name, at = self.string(at, MAX_NAME, JSON_NAME_LENGTH, "name")
            if name.startswith(RESERVED_NAME):
                raise Fault(JSON_RESERVED_KEY, start, f"the name {quoted(name)} begins with {RESERVED_NAME}")
            if name in names:
                raise Fault(JSON_DUPLICATE_KEY, start, f"the name {quoted(name)} stands twice in one object")
            names.add(name)
            at = self.space(at)
            if self.due(at, "':'") != _COLON:
                raise self.misplaced(at, "':'", False)
            at, byte = self.separator(self.value(self.space(at + 1), depth + 1), _CLOSE, "',' or '}'")
            if byte == _CLOSE:
                return at

    def elements(self, at: int, depth: int) -> int:
        at = self.space(at)
        if self.due(at, "a value or ']'") == _END:
            return at + 1
        count = 0
        while True:
            # A bracket after the last comma is no element but a fault of its own.
            if count == MAX_ENTRIES and at < self.size and self.data[at] != _END:
                raise Fault(JSON_ENTRIES, at, f"an array with more than {MAX_ENTRIES} elements")
            count += 1
            at, byte = self.separator(self.value(at, depth + 1), _END, "',' or ']'")
            if byte == _END:
                return at

    def separator(self, end: int, close: int, what: str) -> tuple[int, int]:
        """The comma or closing bracket after a value that ends at `end`, and the place after it."""
        at = self.space(end)
        byte = self.due(at, what)
        if byte == close:
            return at + 1, byte
        if byte == _COMMA:
            return self.space(at + 1), byte
        # 1.2.3 and 0x10 are malformed numbers, and so is 1 000.
        number = self.is_digit(end - 1) and byte in (_NUMBER_TAIL if at == end else _DIGITS)
        raise self.misplaced(at, what, number)

    def string(self, at: int, limit: int, code: str, what: str) -> tuple[str, int]:
        start, parts, at = at, [], at + 1
        while True:
            run = at
            while at < self.size and self.data[at] >= 32 and self.data[at] not in (_QUOTE, _BACKSLASH):
                at += 1
            parts.append(self.data[run:at].decode())
            byte = self.due(at, "the end of a string")
            if byte == _QUOTE:
                break
            if byte == 0:
                raise Fault(JSON_NUL, at, f"a {what} holds U+0000")
            if byte < 32:
                raise Fault(JSON_CONTROL, at, f"a {what} holds the raw control character U+{byte:04X}")
            char, at = self.escape(at, what)
            parts.append(char)
        text = "".join(parts)
        if len(text) > limit:
            raise Fault(code, start, f"a {what} of {len(text)} code points, the limit is {limit}")
        return text, at + 1

    def escape(self, at: int, what: str) -> tuple[str, int]:
        byte = self.due(at + 1, "an escape")
        if byte in _ESCAPES:
            return _ESCAPES[byte], at + 2
        if byte != 117:
            raise Fault(JSON_ESCAPE, at, f"the escape \\{self.char(at + 1)} is unknown")
        unit = self.hex4(at)
        if unit == 0:
            raise Fault(JSON_NUL, at, f"a {what} holds U+0000")
        if not 0xD800 <= unit < 0xE000:
            return chr(unit), at + 6
        if unit < 0xDC00 and self.follows(at + 6, b"\\u"):
            low = self.hex4(at + 6)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12
        raise Fault(JSON_SURROGATE, at, f"a {what} holds the unpaired surrogate \\u{unit:04x}")

    def hex4(self, at: int) -> int:
        for place in range(at + 2, at + 6):
            if self.due(place, "a hexadecimal digit") not in _HEX:
                raise Fault(JSON_ESCAPE, at, "the escape \\u needs four hexadecimal digits")
        return int(self.data[at + 2 : at + 6], 16)

    def number(self, start: int) -> int:
        at = start + 1 if self.data[start] == _MINUS else start
        exact = True
        at = at + 1 if self.data[at : at + 1] == b"0" else self.some_digits(at, "a number")
        if self.data[at : at + 1] == b".":
            exact = False
            at = self.some_digits(at + 1, "a fraction")
        if self.data[at : at + 1] in (b"e", b"E"):
            exact = False
            at += 2 if self.data[at + 1 : at + 2] in (b"+", b"-") else 1
            at = self.some_digits(at, "an exponent")
        if at < self.size and self.data[at] in _NUMBER_TAIL:
            raise Fault(JSON_NUMBER, at, f"{self.shown(at)} stands inside a number")
        if exact:
            # A sign and 16 digits at most are turned into a number: int() refuses thousands on its own.
            if at - start > 17 or abs(int(self.data[start:at])) > MAX_INTEGER:
                raise Fault(JSON_INTEGER_RANGE, start, f"an integer outside plus or minus {MAX_INTEGER}")
        elif abs(float(self.data[start:at])) == float("inf"):
            raise Fault(JSON_NONFINITE, start, "a number beyond the range of a binary64 float")
        return at

    def some_digits(self, at: int, what: str) -> int:
        end = self.digits(at)
        if end == at:
            self.due(at, f"a digit of {what}")
            raise Fault(JSON_NUMBER, at, f"{self.shown(at)} stands where a digit of {what} is due")
        return end

    def digits(self, at: int) -> int:
        while at < self.size and self.data[at] in _DIGITS:
            at += 1
        return at

    def literal(self, at: int, literal: bytes) -> int:
        for place, byte in enumerate(literal, at):
            if self.due(place, literal.decode()) != byte:
                raise self.misplaced(place, literal.decode(), False)
        return at + len(literal)

    def space(self, at: int) -> int:
        while at < self.size and self.data[at] in _WHITE:
            at += 1
        return at

    def due(self, at: int, what: str) -> int:
        if at >= self.size:
            raise Fault(JSON_TRUNCATED, self.size, f"the document ends where {what} is due")
        return self.data[at]

    def follows(self, at: int, expected: bytes) -> bool:
        """Whether these bytes stand here; a document that ends inside them is cut short."""
        return all(self.due(place, "a low surrogate") == byte for place, byte in enumerate(expected, at))

    def is_digit(self, at: int) -> bool:
        return 0 <= at < self.size and self.data[at] in _DIGITS

    def begins_number(self, at: int) -> bool:
        """Whether a number seems to begin here that JSON writes otherwise: +1, .5, or another script.

        Of other scripts the decimal digits of the basic plane count: they are the same in every language.
        """
        char = self.char(at)
        return char in "+." or (char.isdecimal() and char <= "\uffff")

    def misplaced(self, at: int, what: str, number: bool) -> Fault:
        code = JSON_NUMBER if number else JSON_SYNTAX
        return Fault(code, at, f"{self.shown(at)} stands where {what} is due")

    def char(self, at: int) -> str:
        return self.data[at : at + 4].decode(errors="ignore")[:1]

    def shown(self, at: int) -> str:
        return quoted(self.char(at))
