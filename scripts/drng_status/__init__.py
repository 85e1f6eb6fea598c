"""What drng-status is made of."""

VERSION = "0.1.0"
