# SPDX-License-Identifier: Apache-2.0
"""drng on musl, the C library of Alpine: it builds, also by an APKBUILD, and a program is served. scripts/ci/musl.sh by
itself does more."""

from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, said_by

pytestmark = pytest.mark.nightly("glibc alone")


def test_a_program_on_musl_is_served() -> None:
    ways = ("drng", "libdrng, shared", "libdrng, static")
    said = said_by(ROOT / "scripts/ci/musl.sh", "--short")
    assert said.splitlines() == [f"a program on musl is served by {way}" for way in ways]


def test_its_thread_local_variables_are_not_in_what_musl_cannot_enlarge() -> None:
    """musl loads no module with such a relocation, glibc's module has some."""
    module = BUILD / "musl/drng.so"
    if not module.exists():
        pytest.skip("scripts/ci/musl.sh has not built it")

    def relocations(path: object) -> str:
        command = ["readelf", "--relocs", "--wide", str(path)]
        return said_by(*command)

    assert "TPOFF64" not in relocations(module).replace("DTPOFF64", "")
    assert "TPOFF64" in relocations(BUILD / "release/drng.so").replace("DTPOFF64", "")


APKBUILD = f"""\
pkgname=drng
pkgver=1
pkgrel=0
arch="x86_64 aarch64"
license="Apache-2.0"
makedepends="cmake linux-headers openssl-dev samurai"
builddir="$srcdir"
build() {{
    cmake -S {ROOT} -B build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib \
        -DDRNG_UNITS=OFF -DDRNG_TESTS=OFF
    cmake --build build
}}
check() {{
    $CC {ROOT}/docs/library/fill.c -o fill -I{ROOT}/library -Lbuild -ldrng
    LD_LIBRARY_PATH=build ./fill
}}
package() {{
    DESTDIR="$pkgdir" cmake --install build
}}
"""


def test_an_apkbuild_makes_a_package(tmp_path: Path) -> None:
    """Its functions as abuild(1) calls them, which Debian has not; compiler and libcrypto are those of musl.sh."""
    musl, package = BUILD / "musl", tmp_path / "package"
    said_by(ROOT / "scripts/ci/musl.sh", "--short")
    (tmp_path / "APKBUILD").write_text(APKBUILD)
    abuild = '. ./APKBUILD; for step in build check package; do (cd "$builddir" && set -e && "$step"); done'
    env = {"CC": "musl-gcc", "CFLAGS": f"-Os -idirafter {musl}/include -idirafter {musl}/include-machine"}
    env |= {"PATH": "/usr/bin:/bin", "PKG_CONFIG_LIBDIR": f"{musl}/pkgconfig"}
    env |= {"srcdir": str(tmp_path), "pkgdir": str(package)}
    said_by("sh", "-euc", abuild, cwd=tmp_path, env=env)
    held = {f"/{path.relative_to(package)}": path for path in package.rglob("*")}
    assert {"/usr/sbin/drng-enable", "/usr/bin/drng-status", "/usr/lib/libdrng.so.0"} <= held.keys()
    module = next(path for name, path in held.items() if name.endswith("/ossl-modules/drng.so"))
    assert "[libc.so]" in said_by("readelf", "--dynamic", module)
    assert not [name for name in held if "/lib/systemd/" in name]
