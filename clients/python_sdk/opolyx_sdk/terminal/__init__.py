"""The table in a terminal: to play at, to watch, to look at replays. Extra `tui`.

What is seen and which key does what is decided by plain functions and objects, without a terminal:
a `Painting` is what a part of the screen shows, a dialog takes keys and says what was chosen. What
runs them, in textual, ends in `_screen` or `_app`. Texts come from the catalogue, by key.

It uses nothing of the SDK but what is public; an import contract keeps it so.
"""
