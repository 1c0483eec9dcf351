"""Where games are kept: one small protocol and its adapters."""
