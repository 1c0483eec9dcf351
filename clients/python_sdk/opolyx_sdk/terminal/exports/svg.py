"""What both pictures are made of: elements of SVG as text."""

from typing import Final
from xml.sax.saxutils import escape, quoteattr

FONT: Final = "Noto Sans, Noto Sans CJK TC, Noto Sans Devanagari, DejaVu Sans, sans-serif"

_ILLEGAL: Final = {number: None for number in range(32) if chr(number) not in "\t\n\r"}


def element(name: str, content: str = "", **attributes: object) -> str:
    """One element; underscores in names of attributes are hyphens, a last one is dropped."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(str(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def label(text: str, x: float, y: float, size: float = 12, **attributes: object) -> str:
    """A text at a place."""
    return element(
        "text", safe(text), x=_short(x), y=_short(y), font_size=_short(size), **attributes
    )


def safe(text: str) -> str:
    """Text as content: what means something in XML is escaped, what it forbids is left out."""
    return escape(text.translate(_ILLEGAL))


def document(width: int, height: int, title: str, parts: list[str]) -> str:
    """The picture with these parts, on white."""
    ground = element("rect", width=width, height=height, fill="#ffffff")
    body = "\n".join([element("title", safe(title)), ground, *parts])
    return element(
        "svg",
        f"\n{body}\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family=FONT,
    )


def _short(number: float) -> str:
    """A number with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")
