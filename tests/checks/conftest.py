"""What the tests of the checks use."""

import socket

import pytest


@pytest.fixture
def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]
