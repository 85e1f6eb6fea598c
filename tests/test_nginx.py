"""A real nginx under the pinned configuration, the example of conf/nginx."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import CONF, RELEASE, need
from servers import descendants, free_port, make_certificate, maps, server


@pytest.fixture
def nginx_config(tmp_path: Path) -> tuple[Path, int, Path]:
    """The example's configuration with the test's own paths and port, the port, and the certificate."""
    port = free_port()
    cert, key = make_certificate(tmp_path)
    text = (CONF / "nginx" / "nginx.conf").read_text()
    for old, new in {
        "/run/nginx-drng.pid": tmp_path / "nginx.pid",
        "/var/log/nginx/drng-error.log": tmp_path / "error.log",
        "/etc/ssl/certs/drng.pem": cert,
        "/etc/ssl/private/drng.key": key,
        "127.0.0.1:8443": f"127.0.0.1:{port}",
    }.items():
        assert old in text, f"the example has changed: {old}"
        text = text.replace(old, str(new))
    path = tmp_path / "nginx.conf"
    path.write_text(text)
    os.chmod(tmp_path, 0o755)
    return path, port, cert


def fetch(port: int, cert: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            need("curl"),
            "--silent",
            "--show-error",
            "--cacert",
            str(cert),
            "-w",
            "%{ssl_verify_result} %{http_version}",
            *options,
            f"https://127.0.0.1:{port}/",
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_handshakes_and_every_process_maps_the_module(nginx_config: tuple[Path, int, Path]) -> None:
    path, port, cert = nginx_config
    env = RELEASE.environment({"OPENSSL_CONF": str(CONF / "drng.cnf")})
    with server([need("nginx"), "-c", str(path), "-g", "daemon off;"], env, port) as process:
        for options in (["--tlsv1.3"], ["--tlsv1.2", "--tls-max", "1.2"]):
            for _ in range(5):
                result = fetch(port, cert, *options)
                assert result.returncode == 0, result.stderr
                assert "served with random numbers from drng" in result.stdout
        processes = descendants(process.pid)
        assert len(processes) >= 2, "a master and its workers"
        for pid in processes:
            assert maps(pid, RELEASE.modules / "drng.so"), f"process {pid}"


def test_a_missing_module_keeps_nginx_from_starting(nginx_config: tuple[Path, int, Path], tmp_path: Path) -> None:
    path, _, _ = nginx_config
    env = RELEASE.environment({"OPENSSL_CONF": str(CONF / "drng.cnf"), "OPENSSL_MODULES": str(tmp_path)})
    result = subprocess.run(
        [need("nginx"), "-t", "-c", str(path)], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode != 0
    assert "SSL_CTX_new" in result.stderr
