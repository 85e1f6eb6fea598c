"""What drng-status is made of."""
