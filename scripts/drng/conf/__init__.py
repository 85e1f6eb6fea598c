"""openssl.cnf: how it is read, what it means for drng, and drng-conf."""
