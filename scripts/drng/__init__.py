"""What drng-conf, drng-enable and drng-status are made of. What is in no folder is shared."""

VERSION = "0.2.0"
