"""Modes: each a short file of the fields that it changes on its edition's base."""
