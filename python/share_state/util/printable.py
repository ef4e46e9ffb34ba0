"""Text that is safe on a terminal.

Group ids are chosen by whoever may join a group: one with escape sequences in it must not move the cursor, recolour
the screen or reverse the reading direction of whoever looks at the state.
"""


def printable(text: str) -> str:
    r"""Return `text` with control, format and unassigned characters (and the backslash) as `\xNN`, `\uNNNN`."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(_escape(character) for character in text)


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - widths of Python's three escapes
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - as above
