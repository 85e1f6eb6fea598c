"""What drng-enable is made of."""
