"""The numbers of process protocol 1, one name each."""

#: The protocol this SDK speaks, and the host API it needs.
PROTOCOL = 1
HOST_API = 1

#: Bytes of one frame's payload (P1-FRAME-02).
MAX_FRAME = 1_048_576

#: Targets of one batch (P1-HOST-13), and code points of one target id (P1-HOST-14) or request id.
MAX_TARGETS = 64
MAX_ID = 128

#: Deepest place of a value, the root being 0 (P1-HOST-21). `data` of a result stands at depth 3.
MAX_DEPTH = 12
DATA_DEPTH = 3

#: Entries of an object or array, code points of a name and of a string (P1-HOST-35).
MAX_ENTRIES = 256
MAX_NAME = 240
MAX_STRING = 65_536

#: Largest whole number in both directions: 2^53 - 1 (P1-HOST-20).
MAX_INTEGER = 9_007_199_254_740_991

#: Code points of an error's message (P1-HOST-11) and of an identifier.
MAX_MESSAGE = 1_024
MAX_IDENTIFIER = 96

#: Names that begin so are refused everywhere: a JSON library gives them a meaning of its own.
RESERVED_NAME = "$serde_json::private::"

#: Bytes of the one line that says why a run was refused, its newline included.
MAX_DIAGNOSTIC = 2_048

#: Where the list of a module's actions is cut for a diagnostic, in bytes. The number of those left out
#: follows, so the whole line has at most 2,048. The same in every language.
MAX_ACTIONS = 2_000

#: Bytes of one exception's trace and of all traces of a run. The host ends an action whose standard
#: error passes 65,536 bytes; 64 targets that all fail must stay well below that.
MAX_TRACE = 4_096
MAX_TRACES = 32_768
