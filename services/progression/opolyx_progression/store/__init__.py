"""Where progression keeps what was earned: one protocol, one adapter a database."""
