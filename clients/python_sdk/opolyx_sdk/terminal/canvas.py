"""The one widget that everything is drawn on: it shows a painting, and tells of clicks as keys."""

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from opolyx_sdk.terminal.painting import Painting, printable


class Canvas(Widget):
    """A painting, made anew for the room that there is."""

    class Picked(Message):
        """A click on something that stands for a key."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, paint: Callable[[int, int], Painting], *, fits: bool = False) -> None:
        """Show what `paint` makes of columns and lines.

        Args:
            paint: makes the painting.
            fits: whether the widget is as high as the painting is; else it takes the room.
        """
        super().__init__()
        self._paint = paint
        self._fits = fits
        self._painting = Painting()
        self._stale = True

    def repaint(self) -> None:
        """Look again at what there is to show, once the screen is drawn next."""
        self._stale = True
        self.refresh(layout=self._fits)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """See `Widget`."""
        if not self._fits:
            return container.height
        return len(self._paint(width, viewport.height - 6).lines)

    def render_line(self, y: int) -> Strip:
        """See `Widget`."""
        width = self.size.width
        if self._stale:
            self._renew(self.size)
        if y >= len(self._painting.lines):
            return Strip.blank(width, self.rich_style)
        line = self._painting.lines[y]
        console = self.app.console
        style = self.rich_style + console.get_style(line.style)
        drawn = (one._replace(text=printable(one.text)) for one in line.render(console))
        return Strip(Segment.apply_style(drawn, style)).adjust_cell_length(width, self.rich_style)

    def on_resize(self) -> None:
        """There is another room."""
        self._stale = True

    def on_click(self, event: events.Click) -> None:
        """Tell what was clicked."""
        offset = event.get_content_offset(self)
        key = self._painting.hit(offset.x, offset.y) if offset is not None else ""
        if key:
            self.post_message(self.Picked(key))

    def _renew(self, size: Size) -> None:
        self._stale = False
        if size.width and size.height:
            height = size.height if not self._fits else self.app.size.height - 6
            self._painting = self._paint(size.width, height)
