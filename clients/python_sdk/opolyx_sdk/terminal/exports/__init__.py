"""A game written down: as text, as JSON, and as pictures in SVG."""
