"""Boards and decks: what is printed on the table. Names of squares and cards are themes, not rules."""
