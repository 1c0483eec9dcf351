"""The pure rules core of opolyx."""
