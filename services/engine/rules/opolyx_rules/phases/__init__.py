"""Kinds of decisions: one file each. A phase never imports a phase."""
