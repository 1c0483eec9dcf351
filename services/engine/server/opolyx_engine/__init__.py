"""The authoritative game service of opolyx."""
