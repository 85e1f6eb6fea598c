"""Living processes, and what this environment comes to: drng-status."""
