"""The parts of scripts/bench-tls.py."""
