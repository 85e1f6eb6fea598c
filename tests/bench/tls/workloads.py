# SPDX-License-Identifier: Apache-2.0
"""What is asked of the servers: many connections with little in them, or few with a large file."""

from __future__ import annotations

from dataclasses import dataclass

CONNECTIONS, DOWNLOADS = "connections", "downloads"

# Of all workloads under TLS 1.2; which is taken, the client says. Level 0 lets the old ones in.
CIPHERS = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:AES128-GCM-SHA256:AES128-SHA:@SECLEVEL=0"


@dataclass(frozen=True)
class Workload:
    kind: str
    name: str
    port: str  # of the site: rsa or ec, after the certificate
    protocol: str  # as ab knows it
    cipher: str
    megabytes: int = 0

    @property
    def path(self) -> str:
        return f"/{self.megabytes}m" if self.megabytes else "/index.html"

    @property
    def title(self) -> str:
        return f"{self.name}, {self.megabytes} MB" if self.megabytes else self.name


HANDSHAKES = (
    Workload(CONNECTIONS, "ECDHE-RSA", "rsa", "TLS1.2", "ECDHE-RSA-AES128-GCM-SHA256"),
    Workload(CONNECTIONS, "ECDHE-ECDSA", "ec", "TLS1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    Workload(CONNECTIONS, "TLS 1.3, ECDSA", "ec", "TLS1.3", "TLS_AES_128_GCM_SHA256"),
)


def downloads(sizes: tuple[int, ...]) -> tuple[Workload, ...]:
    """AES128-SHA draws a random IV for every record, AES128-GCM-SHA256 none."""
    return tuple(
        Workload(DOWNLOADS, cipher, "rsa", "TLS1.2", f"{cipher}:@SECLEVEL=0", megabytes)
        for cipher in ("AES128-GCM-SHA256", "AES128-SHA")
        for megabytes in sizes
    )
