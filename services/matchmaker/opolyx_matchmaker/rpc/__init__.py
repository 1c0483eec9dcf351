"""The wire's edge: the only place that knows generated code."""
