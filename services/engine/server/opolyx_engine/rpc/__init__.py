"""The wire: the only place that knows the protos."""
