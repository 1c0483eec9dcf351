"""What is printed on the table: boards, decks, and the names of squares and cards (themes)."""
