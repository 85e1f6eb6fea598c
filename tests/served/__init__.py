"""Programs on libcrypto by name, on a Debian that is booted: who serves each, and what drng says where it does not."""
