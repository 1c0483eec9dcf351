"""Identity, rooms, quick match and bot seating of opolyx."""
