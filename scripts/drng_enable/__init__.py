"""What drng-enable is made of."""

VERSION = "0.2.0"
