"""The error of input that cannot be used. It needs no other module, as every command catches it."""

from __future__ import annotations


class InputError(Exception):
    """The input cannot be read or used; the message is for the user."""
