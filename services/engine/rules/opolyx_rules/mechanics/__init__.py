"""What the rules do: one rule or one noun a file. Imports go down only."""
