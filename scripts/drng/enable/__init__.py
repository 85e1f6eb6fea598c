"""The change of openssl.cnf, or of a service: drng-enable."""
