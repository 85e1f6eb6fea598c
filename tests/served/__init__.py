# SPDX-License-Identifier: Apache-2.0
"""Programs on libcrypto by name, on a Debian that is booted: who serves each, and what drng says where it does not."""
