"""The parts of scripts/bench/bench-tls.py."""
