"""Which replica runs which game: who lives, whose a game is, and how it changes hands."""
