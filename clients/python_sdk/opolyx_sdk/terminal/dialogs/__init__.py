"""Dialogs of the table: each takes keys and says what was chosen. None of them knows a terminal."""
