"""Fixtures for the tests of the checks."""

import socket

import pytest


@pytest.fixture
def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]
