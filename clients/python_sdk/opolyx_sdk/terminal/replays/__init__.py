"""Replays: step through a game that was played, and write it down as text, JSON and pictures."""
