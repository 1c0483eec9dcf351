"""Client, bots, local simulator and arena of opolyx."""
