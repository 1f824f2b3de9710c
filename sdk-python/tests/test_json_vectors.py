"""Every vector of the strict profile, in process and through processes (P1-HOST-17 to 22, 35 on the SDK's side)."""

import io
import json
from typing import Any

import pytest
from conftest import Form
from support import HELLO, ROOT, frame, framed

VECTORS = ROOT / "conformance" / "cases" / "json"


def load(name: str) -> dict[str, dict[str, Any]]:
    vectors = json.loads((VECTORS / name).read_text("utf-8"))["vectors"]
    return {vector["name"]: vector for vector in vectors}


def octets(form: dict[str, Any]) -> bytes:
    match form:
        case {"utf8": str(text)}:
            return text.encode()
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"repeat": part, "times": int(times)}:
            return octets(part) * times
        case {"concat": list(parts)}:
            return b"".join(map(octets, parts))
    raise AssertionError(form)


def verdict(vector: dict[str, Any]) -> str | None:
    """What a module's SDK says: a code, or None for accepted."""
    code: str | None = vector.get("process", vector).get("code")
    return code


ALL = {**load("accept.json"), **load("reject.json")}
REFUSED = [name for name, vector in ALL.items() if verdict(vector)]


def test_all_vectors_are_there() -> None:
    """57 accepted and 145 refused are the frozen base, six of the former turned by the profile."""
    assert len(load("accept.json")) >= 57
    assert len(load("reject.json")) >= 145
    assert {name for name in load("accept.json") if verdict(ALL[name])} >= {
        "nodup_2000",
        "depth_arr_32",
        "depth_obj_32",
        "depth_wide",
        "magic_serde_number",
        "magic_serde_raw",
    }


@pytest.mark.parametrize("name", ALL)
def test_the_code_of_the_first_fault(name: str) -> None:
    from modberth_sdk._read import _REFUSALS, _read_fast, _read_slow
    from modberth_sdk._scan import find_fault

    payload = octets(ALL[name]["bytes"])
    fault = find_fault(payload)
    assert (fault.code if fault else None) == verdict(ALL[name])
    for read in (_read_fast, _read_slow):
        try:
            value = read(payload)
        except _REFUSALS:
            assert fault is not None
        else:
            assert fault is None
            assert value == json.loads(payload.decode())


@pytest.mark.parametrize("name", ALL)
def test_either_frame_of_the_vendored_file(name: str, vendored_module: Any) -> None:
    """An accepted document is no message of the protocol; a refused one is refused for its JSON."""
    payload = octets(ALL[name]["bytes"])
    code = verdict(ALL[name]) or "request.message"
    for number, data in ((1, framed(payload)), (2, frame(HELLO) + framed(payload))):
        with pytest.raises(vendored_module.ProtocolError) as caught:
            vendored_module.exchange(io.BytesIO(data).read, lambda request: [])
        assert caught.value.code == (code if payload else "frame.empty")
        assert caught.value.message.startswith(f"frame {number}")


@pytest.mark.parametrize("name", REFUSED)
def test_a_process_refuses(name: str, vendored_form: Form) -> None:
    payload = octets(ALL[name]["bytes"])
    done = vendored_form.run(frame(HELLO) + framed(payload))
    assert done.refusal == (verdict(ALL[name]) if payload else "frame.empty")
    assert "frame 2" in done.line
    assert not payload or "byte " in done.line
