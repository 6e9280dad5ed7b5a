"""Messages between the grader and a student's process: numbers, text, arrays and
containers of them, as JSON.

Nothing else can be encoded, and decoding never runs code: it uses no pickle, and no
class by name. An array is encoded as its type, its shape and its bytes in base64. A
message is its length, followed by the JSON.
"""

import base64
import json
import re
import socket
import struct
import time
from typing import Any

import numpy as np

__all__ = ["decode", "encode", "receive", "send"]

LIMIT = 16 * 2**20  # bytes of a message
_LENGTH = struct.Struct(">Q")


def encode(value: Any) -> Any:
    """A value in a form that JSON can represent.

    Raises:
        ValueError: If it is neither plain data nor an array of numbers.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if value is ...:
        return {"kind": "ellipsis"}
    if isinstance(value, list | tuple):
        return {
            "kind": "tuple" if isinstance(value, tuple) else "list",
            "items": [encode(item) for item in value],
        }
    if isinstance(value, dict):
        return {
            "kind": "dict",
            "items": [[encode(key), encode(item)] for key, item in value.items()],
        }
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise ValueError(
            "an answer is made of numbers, text, arrays, tuples, lists and dicts, not "
            f"of {type(value)}"
        )
    data = base64.b64encode(array.tobytes()).decode()
    return {
        "kind": "array",
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "data": data,
    }


def decode(message: Any) -> Any:
    """The value that `encode` wrote; arrays of no dimension come back as numpy scalars.

    Raises:
        ValueError: If the message is not of that form.
    """
    if not isinstance(message, dict):
        return (
            [decode(item) for item in message] if isinstance(message, list) else message
        )
    match message:
        case {"kind": "ellipsis"}:
            return ...
        case {"kind": "list" | "tuple" as kind, "items": list(items)}:
            decoded = [decode(item) for item in items]
            return tuple(decoded) if kind == "tuple" else decoded
        case {"kind": "dict", "items": list(items)}:
            return {decode(key): decode(item) for key, item in items}
        case {
            "kind": "array",
            "dtype": str(dtype),
            "shape": list(shape),
            "data": str(data),
        }:
            if not re.fullmatch(r"[<>|=][biufc]\d{1,2}", dtype):
                raise ValueError(f"dtype: got {dtype!r}; it must be one of numbers.")
            flat = np.frombuffer(base64.b64decode(data, validate=True), np.dtype(dtype))
            return flat.reshape(tuple(map(int, shape))).copy()[()]
    raise ValueError("message: it is not of the form that encode writes.")


def send(connection: socket.socket, message: Any) -> None:
    """Write one message.

    Raises:
        ValueError: If it is longer than the limit.
    """
    text = json.dumps(message).encode()
    if len(text) > LIMIT:
        raise ValueError(f"an answer of {len(text)} bytes is longer than {LIMIT}")
    connection.sendall(_LENGTH.pack(len(text)) + text)


def receive(connection: socket.socket, seconds: float | None = None) -> Any:
    """Read one message, within `seconds` in all.

    Raises:
        TimeoutError: If it has not arrived by then.
        EOFError: If the other side has ended.
        ValueError: If it is too long, or not JSON.
    """
    end = None if seconds is None else time.monotonic() + seconds
    (length,) = _LENGTH.unpack(_read(connection, _LENGTH.size, end))
    if length > LIMIT:
        raise ValueError(f"a message of {length} bytes is longer than {LIMIT}")
    return json.loads(_read(connection, length, end))


def _read(connection: socket.socket, length: int, end: float | None) -> bytes:
    read = bytearray()
    while len(read) < length:
        if end is not None:
            connection.settimeout(max(end - time.monotonic(), 1e-3))
        part = connection.recv(min(length - len(read), 2**20))
        if not part:
            raise EOFError("the other side has ended")
        read += part
    return bytes(read)
