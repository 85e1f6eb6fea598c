"""What drng-status is made of."""

VERSION = "0.2.0"
