"""All opolyx services in one process."""
