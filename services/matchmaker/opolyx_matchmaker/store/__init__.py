"""What the matchmaker remembers."""
