# SPDX-License-Identifier: Apache-2.0
"""Living processes, and what this environment comes to: drng-status."""
