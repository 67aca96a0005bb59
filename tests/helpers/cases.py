"""Tables of sentences as text: one row a line, so that a page shows thirty of them."""

import re


def cases(table: str) -> list[list[str]]:
    """The rows of a table, their cells apart by ` | `; an indented line goes on with the row above it."""
    rows = table.strip("\n").replace("\n    ", " ").splitlines()
    return [re.split(r" ?\| ?", row) for row in rows]


def sentences(block: str) -> list[str]:
    """The sentences of a block, apart by ` / `; ⏎ is the end of a line."""
    return " ".join(block.split()).replace("⏎", "\n").split(" / ")
