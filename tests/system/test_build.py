"""What the build leaves: symbols, hardening, installation, derived numbers, and the look of the sources."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import BUILD, ROOT, need

MODULE = BUILD / "release" / "drng.so"


def output(*command: str, **kwargs: Any) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout


def test_one_symbol_is_exported() -> None:
    symbols = [line.split()[-1] for line in output("nm", "-D", "--defined-only", str(MODULE)).splitlines()]
    # The counters are for drng-status, which reads them from outside.
    assert sorted(symbols) == ["OSSL_provider_init", "drng_counters"]


def test_thread_local_variables_come_with_the_thread() -> None:
    """Allocated later, a fork in between would leave the child memory that is freed twice."""
    relocations = output("readelf", "-rW", str(MODULE))
    assert "TPOFF64" in relocations or "TLS_TPREL" in relocations
    assert not re.search(r"DTPMOD|TLSDESC|__tls_get_addr", relocations)
    segment = next(line for line in output("readelf", "-lW", str(MODULE)).splitlines() if line.split()[:1] == ["TLS"])
    assert int(segment.split()[5], 16) <= 512, "the C library has some 1,600 bytes to spare for all modules together"


def test_the_module_is_hardened() -> None:
    headers = output("readelf", "--wide", "--program-headers", "--dynamic", str(MODULE))
    assert "GNU_RELRO" in headers
    assert "BIND_NOW" in headers
    stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack
    symbols = output("nm", "-D", "--undefined-only", str(MODULE))
    assert "__stack_chk_fail" in symbols
    if platform.machine() == "x86_64":
        assert "SHSTK" in output("readelf", "--notes", str(MODULE))
        entry = output("objdump", "-d", "--disassemble=OSSL_provider_init", str(MODULE))
        assert "endbr64" in entry


def test_the_module_needs_libc_alone() -> None:
    """It serves whichever libcrypto loads it, and brings none along."""
    needed = {
        line.split("[")[1].rstrip("]")
        for line in output("readelf", "--dynamic", str(MODULE)).splitlines()
        if "(NEEDED)" in line
    }
    assert needed - {"ld-linux-x86-64.so.2"} == {"libc.so.6"}
    undefined = [line.split() for line in output("nm", "-D", "--undefined-only", str(MODULE)).splitlines()]
    others = {name for kind, name in undefined if kind == "U" and "@GLIBC_" not in name}
    assert not others


def test_install_puts_everything_in_place(tmp_path: Path) -> None:
    modules = output("pkg-config", "--variable=modulesdir", "libcrypto").strip()
    output(
        "cmake",
        "--install",
        str(BUILD / "release"),
        "--prefix",
        "/usr",
        env={"DESTDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    documentation = ("man/man7/provider-drng.7", "doc/drng/examples/nginx/nginx.conf")
    for path in (f"{modules}/drng.so", "/etc/ssl/drng/drng.cnf", *(f"/usr/share/{p}" for p in documentation)):
        assert (tmp_path / path.lstrip("/")).is_file(), path
    assert sorted(p.name for p in (tmp_path / "etc/ssl/drng").iterdir()) == sorted(
        p.name for p in ROOT.glob("conf/*.*")
    )
    assert "--service" in output(str(tmp_path / "usr/bin/drng-status"), "--help")


def test_everybody_may_read_what_is_installed(tmp_path: Path) -> None:
    """Whatever the umask: OpenSSL passes over a profile that it may not read, and serves by itself."""
    env = {"DESTDIR": str(tmp_path / "root"), "PATH": "/usr/bin:/bin"}
    install = ["cmake", "--install", str(BUILD / "release"), "--prefix", "/usr"]
    subprocess.run(install, env=env, umask=0o077, check=True, capture_output=True)
    paths = list((tmp_path / "root").rglob("*"))
    assert paths
    wanted = {True: 0o755, False: 0o444}
    closed = [p for p in paths if not p.is_symlink() and ~p.stat().st_mode & wanted[p.is_dir()]]
    # What stands above the installation is there already where there is no DESTDIR.
    assert not [p for p in closed if "drng" in p.name or "drng" in p.parent.name]


def test_the_module_holds_its_probes() -> None:
    """Where the build found sys/sdt.h (Debian's systemtap-sdt-dev), all five; else none."""
    found = "HAVE_SYS_SDT_H:INTERNAL=1" in (BUILD / "release" / "CMakeCache.txt").read_text()
    lines = [line.strip() for line in output("readelf", "--notes", str(MODULE)).splitlines()]
    names = [line.removeprefix("Name: ") for line in lines if line.startswith("Name: ")]
    assert lines.count("Provider: drng") == len(names)
    assert set(names) == ({"seed", "reseed", "fallback", "health_failure", "fork"} if found else set())


def test_it_builds_without_probes(tmp_path: Path) -> None:
    """The header taken away, as on a machine that has none."""
    header = "-DHAVE_SYS_SDT_H="
    output("cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja", "-DDRNG_WERROR=ON", header)
    output("cmake", "--build", str(tmp_path), "-j", "2", "--target", "drng")
    assert "stapsdt" not in output("readelf", "--notes", str(tmp_path / "drng.so"))


def test_cutoffs_are_the_derived_ones() -> None:
    output(sys.executable, str(ROOT / "scripts" / "evidence" / "cutoffs.py"), "--check")


def test_constants_of_df_are_the_derived_ones() -> None:
    output(sys.executable, str(ROOT / "scripts" / "evidence" / "df_constants.py"), "--check")


def sources() -> list[str]:
    return sorted(
        str(p.relative_to(ROOT)) for folder in ("mixing", "provider", "tests") for p in (ROOT / folder).rglob("*.[ch]")
    )


def test_sources_are_formatted() -> None:
    output(need("clang-format"), "--dry-run", "--Werror", *sources(), cwd=ROOT)


def test_clang_tidy_finds_nothing() -> None:
    """`.clang-tidy` over the product; warnings are errors there."""
    files = rf"{ROOT}/(mixing|provider)/.*\.c$"
    output(need("run-clang-tidy"), "-quiet", "-j", "2", "-p", str(BUILD / "dev-clang"), files, cwd=ROOT)


def shell_scripts() -> list[str]:
    """By their first line, whatever their names end in; what is read by another has none, and is found by its name."""
    tracked = output("git", "ls-files", "-z", cwd=ROOT).split("\0")
    files = [name for name in tracked if name and (ROOT / name).is_file()]
    return [n for n in files if n.endswith(".sh") or re.match(rb"#! ?\S*/(env )?(ba|da)?sh\b", (ROOT / n).read_bytes())]


def test_shell_scripts_are_clean() -> None:
    """What is sourced is followed: `.shellcheckrc`."""
    scripts = shell_scripts()
    assert {".ci/run", "scripts/test.sh", "scripts/ci/packages.sh", "scripts/packaging/postrm"} <= set(scripts)
    assert "scripts/evidence/collect-raw" in scripts
    output(need("shellcheck"), *scripts, cwd=ROOT)


def test_python_is_clean() -> None:
    ruff = BUILD / "venv" / "bin" / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed: scripts/test.sh could not fetch it")
    output(str(ruff), "check", "--no-cache", str(ROOT), cwd=ROOT)
    output(str(ruff), "format", "--check", "--no-cache", str(ROOT), cwd=ROOT)


def test_one_file_executes_the_instructions() -> None:
    found = [
        p
        for p in sources()
        if not p.startswith("tests/")
        and any(
            f'"{i} %' in (ROOT / p).read_text() or f"_{i}64_step" in (ROOT / p).read_text()
            for i in ("rdrand", "rdseed")
        )
    ]
    assert found == ["mixing/machine/instructions_x86.h"]


def test_dependencies_run_one_way() -> None:
    """mixing/ knows nothing of provider/; the product knows nothing of the tests."""
    for path in sources():
        if path.startswith("tests/"):
            continue
        text = (ROOT / path).read_text()
        assert '#include "tests/' not in text, path
        if path.startswith("mixing/"):
            assert '#include "provider/' not in text, path
            assert "core_dispatch.h" not in text, path


def test_documents_name_what_is_there() -> None:
    """Paths in backquotes, with * and <name> for any."""
    for document in sorted(ROOT.glob("*.md")):
        paths = re.findall(r"`((?:conf|docs|mixing|provider|scripts|tests)/[^`\s]*)`", document.read_text())
        for path in paths:
            assert list(ROOT.glob(re.sub(r"<.*?>", "*", path.rstrip("/")))), f"{document.name}: {path}"
        assert paths or document.name != "CONTRIBUTING.md"


def test_installed_paths_in_documents_and_examples_are_right() -> None:
    """Where profiles, examples and articles are once drng is installed, or what drng-enable writes beside them."""
    conf = ROOT / "conf"
    installed = {"/usr/share/doc/drng/examples", "/etc/ssl/drng/service", "/etc/ssl/drng/service/NAME.cnf"}
    installed |= {f"/etc/ssl/drng/{p.name}" for p in conf.glob("*.cnf")}
    installed |= {f"/usr/share/doc/drng/examples/{p.relative_to(conf)}" for p in conf.rglob("*")}
    installed |= {f"/usr/share/doc/drng/{p.name}" for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.[1-8]"), *conf.rglob("*.c*")]
    for text in texts:
        plain = text.read_text().replace(r"\-", "-").replace("service/nginx.cnf", "service/NAME.cnf")
        for path in re.findall(r"/(?:etc/ssl|usr/share/doc)/drng/[\w./-]*\w", plain):
            assert path in installed, text


def test_continuous_integration_runs_the_scripts() -> None:
    steps = re.findall(r"^ +- run: (\S+)", (ROOT / ".github/workflows/ci.yml").read_text(), flags=re.MULTILINE)
    assert "scripts/test.sh" in steps
    assert "exec scripts/test.sh\n" in (ROOT / ".ci/run").read_text()
    for script in steps:
        assert os.access(ROOT / script, os.X_OK), script
