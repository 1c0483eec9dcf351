"""From a server to a game: quick match, rooms, games to watch."""
