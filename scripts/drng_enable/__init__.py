"""What drng-enable is made of."""

VERSION = "0.1.0"
