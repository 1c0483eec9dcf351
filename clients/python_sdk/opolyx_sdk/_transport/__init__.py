"""The wire: the channel, and the calls of each service. Only this package and `_convert` know it."""
