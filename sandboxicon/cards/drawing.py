"""Cards as pictures: the verdict first, and beside it the ladder with the kernel line, always in the same place."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from ladder.models import FIRST_RANK_WITH_OWN_KERNEL
from sandboxicon.cards.words import Card

WIDTH, HEIGHT = 1200, 630
KEPT = 128  # pictures, of some 25 KB each

# The light colours of static/css/tokens.css.
PAPER, LEAF, INK, QUIET, RULE, HATCH = "#f6f2e9", "#fffdf7", "#1d1b18", "#5f594f", "#d9d1c0", "#d8d0bf"
WARM, WARM_WASH, COOL, COOL_WASH = "#9c3d16", "#f6e3d6", "#0d5a63", "#dcecec"
INKS = {"shared": WARM, "own": COOL, "none": WARM}

LEFT, TEXT_WIDTH = 72, 690
LADDER_LEFT, LADDER_RIGHT, LADDER_TOP, RUNG, GAP, LINE_GAP = 836, 1128, 132, 46, 11, 62
VERDICT_TOP = 236
SIZES = range(60, 27, -2)
LONGEST = 500  # characters: more never fit, and cost time to measure


@lru_cache(maxsize=KEPT)
def png(card: Card) -> bytes:
    """The picture. The same words give the same bytes."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    _ladder(image, draw, card)
    _words(draw, card)
    file = BytesIO()
    # The quick ways: 30 ms in all, and no tenth larger than with the slow ones.
    image.quantize(96, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(file, "PNG")
    return file.getvalue()


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    family = "font_source_serif_pro" if name.startswith("SourceSerif") else "font_source_sans_pro"
    path = files(family) / "files" / f"{name}.ttf"
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def _serif(size: int) -> ImageFont.FreeTypeFont:
    return _font("SourceSerifPro-Semibold", size)


def _sans(size: int) -> ImageFont.FreeTypeFont:
    return _font("SourceSansPro-Regular", size)


def _words(draw: ImageDraw.ImageDraw, card: Card) -> None:
    mark = _serif(34)
    draw.text((LEFT, 84), "sandbox", INK, mark, anchor="ls")
    draw.text((LEFT + mark.getlength("sandbox"), 84), "icon", COOL, mark, anchor="ls")
    draw.text((LADDER_RIGHT, 84), _clipped(card.kind, _sans(28), 560), QUIET, _sans(28), anchor="rs")

    font = _serif(44)
    lines = list(_lines(card.title, font, TEXT_WIDTH))
    if len(lines) > 1:
        font = _serif(32)
        lines = _fitted(card.title, font, TEXT_WIDTH, 2)
    for place, line in enumerate(lines):
        draw.text((LEFT, 194 - 38 * (len(lines) - 1 - place)), line, INK, font, anchor="ls")

    note_font = _sans(26)
    note = _fitted(card.note, note_font, TEXT_WIDTH, 2)
    for place, line in enumerate(note):
        draw.text((LEFT, 588 - 34 * (len(note) - 1 - place)), line, QUIET, note_font, anchor="ls")

    # The verdict is as large as its place allows.
    inset, height = 34, (510 if len(note) < 2 else 490) - VERDICT_TOP
    for size in SIZES:
        font, step = _serif(size), round(size * 1.22)
        if step * len(list(_lines(card.verdict, font, TEXT_WIDTH - inset))) <= height:
            break
    verdict = _fitted(card.verdict, font, TEXT_WIDTH - inset, height // step)
    _bar(draw, card.side, VERDICT_TOP, VERDICT_TOP + step * len(verdict) + 4)
    for place, line in enumerate(verdict):
        draw.text((LEFT + inset, VERDICT_TOP + step * place + size), line, INKS.get(card.side, INK), font, anchor="ls")


def _bar(draw: ImageDraw.ImageDraw, side: str, top: int, bottom: int) -> None:
    """Beside the verdict, in the dress of its side: solid for a kernel, dashed for none, double for undisclosed."""
    if side == "none":
        for start in range(top, bottom, 22):
            draw.rectangle((LEFT, start, LEFT + 8, min(start + 13, bottom)), WARM)
    elif side == "undisclosed":
        for left in (LEFT, LEFT + 7):
            draw.rectangle((left, top, left + 2, bottom), QUIET)
    else:
        draw.rectangle((LEFT, top, LEFT + 8, bottom), INKS.get(side, INK))


def _ladder(image: Image.Image, draw: ImageDraw.ImageDraw, card: Card) -> None:
    top, font, small = LADDER_TOP, _sans(24), _font("SourceSansPro-Semibold", 22)
    for rank in range(len(card.rungs), 0, -1):
        if rank == FIRST_RANK_WITH_OWN_KERNEL - 1:
            _kernel_line(draw, top - GAP + LINE_GAP // 2)
            top += LINE_GAP - GAP
        name = _clipped(card.rungs[rank - 1], font, LADDER_RIGHT - LADDER_LEFT - 36)
        box = (LADDER_LEFT, top, LADDER_RIGHT, top + RUNG)
        hue, wash = (COOL, COOL_WASH) if rank >= FIRST_RANK_WITH_OWN_KERNEL else (WARM, WARM_WASH)
        ink = QUIET
        if rank in card.marks:
            draw.rectangle(box, hue)
            ink = LEAF
        elif card.side == "undisclosed":
            _hatched(image, box)
            draw.rectangle((LADDER_LEFT + 11, top + 8, LADDER_LEFT + 25 + font.getlength(name), top + RUNG - 8), LEAF)
        elif card.side or card.marks:
            draw.rectangle(box, LEAF, RULE, 2)
        else:
            draw.rectangle(box, wash, hue, 2)
            ink = INK
        draw.text((LADDER_LEFT + 18, top + RUNG / 2), name, ink, font, anchor="lm")
        top += RUNG + GAP
    ground = top + 12
    draw.rectangle((LADDER_LEFT - 12, ground, LADDER_RIGHT + 12, ground + 4), INK)
    below = {"none": "no box: on the bare ground", "undisclosed": "the vendor does not say which"}.get(card.side, "")
    draw.text((LADDER_LEFT, ground + 32), below, INKS.get(card.side, INK), small, anchor="lm")


def _kernel_line(draw: ImageDraw.ImageDraw, height: int) -> None:
    """From beside the ladder out of the picture, with its name in it."""
    label, font = "the kernel line", _font("SourceSerifPro-It", 24)
    middle, half = (LADDER_LEFT + LADDER_RIGHT) / 2, font.getlength(label) / 2 + 12
    draw.text((middle, height - 1), label, INK, font, anchor="mm")
    for left in range(LADDER_LEFT - 44, WIDTH, 30):
        if left + 18 < middle - half or left > middle + half:
            draw.rectangle((left, height - 3, left + 18, height + 2), INK)


def _hatched(image: Image.Image, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    hatch = Image.new("RGB", (width, height), LEAF)
    draw = ImageDraw.Draw(hatch)
    for start in range(-height, width, 14):
        draw.line(((start, height), (start + height, 0)), HATCH, 2)
    draw.rectangle((0, 0, width - 1, height - 1), None, RULE, 2)
    image.paste(hatch, (left, top))


def _lines(text: str, font: ImageFont.FreeTypeFont, width: int) -> Iterator[str]:
    """The text in lines that fit; its own line breaks stay."""
    for paragraph in text[:LONGEST].split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if line and font.getlength(longer) > width:
                yield line
                longer = word
            line = longer
        yield line


def _fitted(text: str, font: ImageFont.FreeTypeFont, width: int, most: int) -> list[str]:
    """The text in `most` lines at most; what does not go in is left out, and an ellipsis says so."""
    lines = [line for line in _lines(text, font, width) if line]
    if len(lines) > most:
        lines = [*lines[: most - 1], _clipped(f"{lines[most - 1]} {lines[most]}", font, width)]
    return lines


def _clipped(text: str, font: ImageFont.FreeTypeFont, width: int) -> str:
    """The text on one line, with an ellipsis where it is too long."""
    text = text[:LONGEST]
    if font.getlength(text) <= width:
        return text
    fits = bisect_left(range(len(text)), True, key=lambda end: font.getlength(f"{text[: end + 1]}…") > width)
    text = text[:fits]
    return f"{text.rstrip(',.;: ')}…"
