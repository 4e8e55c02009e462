"""Two wordings side by side: which words stayed, which went, which came."""

import re
from difflib import SequenceMatcher

Piece = tuple[str, str]
"""`same`, `gone` or `new`, and the words, with the spaces between them."""

# Texts that share less than this are told as one gone and one new: word by word they would be a riddle.
ALIKE = 0.35
# Longer texts are compared line by line, since the time grows with the square of their length.
LONG = 4_000

_WORDS = re.compile(r"\s+|[\w.@/:-]+|.", re.DOTALL)


def pieces(before: str, after: str) -> list[Piece]:
    """How `before` became `after`, word by word."""
    if before == after:
        return [("same", after)] if after else []
    if not before or not after:
        return [*([("gone", before)] if before else []), *([("new", after)] if after else [])]
    is_long = len(before) + len(after) > LONG
    old: list[str] = before.splitlines(keepends=True) if is_long else _WORDS.findall(before)
    new: list[str] = after.splitlines(keepends=True) if is_long else _WORDS.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < ALIKE:
        return [("gone", before), ("new", after)]
    found: list[Piece] = []
    for operation, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if operation == "equal":
            found.append(("same", "".join(new[new_from:new_to])))
            continue
        if old_from < old_to:
            found.append(("gone", "".join(old[old_from:old_to])))
        if new_from < new_to:
            found.append(("new", "".join(new[new_from:new_to])))
    return _joined(found)


def _joined(found: list[Piece]) -> list[Piece]:
    """Changed words with nothing but a space between them are one change."""
    joined: list[Piece] = []
    for place, (kind, text) in enumerate(found):
        is_gap = kind == "same" and not text.strip() and 0 < place < len(found) - 1
        for each in ("gone", "new") if is_gap else (kind,):
            joined.append((each, text))
    runs: list[Piece] = []
    gone = new = ""
    for kind, text in joined:
        if kind == "same":
            runs += [piece for piece in (("gone", gone), ("new", new)) if piece[1]]
            gone = new = ""
            runs.append((kind, text))
        elif kind == "gone":
            gone += text
        else:
            new += text
    return [*runs, *(piece for piece in (("gone", gone), ("new", new)) if piece[1])]
