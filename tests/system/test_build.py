# SPDX-License-Identifier: Apache-2.0
"""What the build leaves: symbols, hardening, installation, derived numbers, and the look of the sources."""

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, CONF, ROOT, Flavour, need, said_by
from tests.support.packages import installed_pages
from tests.support.servers import SYSTEM_PYTHON

MODULE = BUILD / "release" / "drng.so"


def test_one_symbol_is_exported() -> None:
    symbols = [line.split()[-1] for line in said_by("nm", "-D", "--defined-only", str(MODULE)).splitlines()]
    # The counters are for drng-status, which reads them from outside.
    assert sorted(symbols) == ["OSSL_provider_init", "drng_counters"]


def test_thread_local_variables_come_with_the_thread() -> None:
    """Allocated later, a fork in between would leave the child memory that is freed twice."""
    relocations = said_by("readelf", "-rW", str(MODULE))
    assert "TPOFF64" in relocations or "TLS_TPREL" in relocations
    assert not re.search(r"DTPMOD|TLSDESC|__tls_get_addr", relocations)
    segment = next(line for line in said_by("readelf", "-lW", str(MODULE)).splitlines() if line.split()[:1] == ["TLS"])
    assert int(segment.split()[5], 16) <= 320, "the C library has some 1,600 bytes to spare for all modules together"


LOADS = {
    "before drng": "ctypes.CDLL(sys.argv[1]); import ssl; assert len(ssl.RAND_bytes(8)) == 8",
    "after drng": "import ssl; assert len(ssl.RAND_bytes(8)) == 8; ctypes.CDLL(sys.argv[1])",
}


@pytest.mark.parametrize("order", LOADS)
def test_a_library_with_many_thread_local_variables_is_loaded(tmp_path: Path, order: str) -> None:
    """1,300 bytes of them come with the thread, and so do drng's: whoever is loaded second finds room."""
    source = tmp_path / "greedy.c"
    source.write_text("_Thread_local char taken[1300];\nchar *get_taken(void) { return taken; }\n")
    library = tmp_path / "greedy.so"
    said_by("gcc", "-shared", "-fPIC", "-ftls-model=initial-exec", "-o", str(library), str(source))
    script = f"import ctypes, sys; {LOADS[order]}"
    # Under the strict profile there are no bytes without drng.
    result = Flavour("dev", "dev").run(
        [SYSTEM_PYTHON, "-c", script, str(library)], {"OPENSSL_CONF": str(CONF / "drng.cnf")}
    )
    assert result.returncode == 0, result.stderr


def test_the_module_is_hardened() -> None:
    headers = said_by("readelf", "--wide", "--program-headers", "--dynamic", str(MODULE))
    assert "GNU_RELRO" in headers
    assert "BIND_NOW" in headers
    stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack
    symbols = said_by("nm", "-D", "--undefined-only", str(MODULE))
    assert "__stack_chk_fail" in symbols
    if platform.machine() == "x86_64":
        assert "SHSTK" in said_by("readelf", "--notes", str(MODULE))
        entry = said_by("objdump", "-d", "--disassemble=OSSL_provider_init", str(MODULE))
        assert "endbr64" in entry


@pytest.mark.parametrize(
    ("compiler", "flags", "sentence"),
    [
        ("gcc", "-m32", "drng supports 64-bit programs alone"),
        ("gcc", "-mx32", "drng supports 64-bit programs alone"),
        pytest.param(
            *("powerpc64le-linux-gnu-gcc", "-mbig", "drng supports little-endian POWER alone (ppc64le)"),
            marks=pytest.mark.nightly("this machine's compiler"),
        ),
    ],
)
def test_what_is_not_supported_is_refused_in_a_sentence(
    tmp_path: Path, compiler: str, flags: str, sentence: str
) -> None:
    """Nothing is linked, since this machine need not have such a C library."""
    need(compiler)
    settings = [f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}"]
    settings.append("-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
    result = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, *settings], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode != 0
    assert sentence in " ".join(result.stderr.split())


def test_the_module_needs_libc_alone() -> None:
    """It serves whichever libcrypto loads it, and brings none along."""
    needed = {
        line.split("[")[1].rstrip("]")
        for line in said_by("readelf", "--dynamic", str(MODULE)).splitlines()
        if "(NEEDED)" in line
    }
    assert needed - {"ld-linux-x86-64.so.2"} == {"libc.so.6"}
    undefined = [line.split() for line in said_by("nm", "-D", "--undefined-only", str(MODULE)).splitlines()]
    others = {name for kind, name in undefined if kind == "U" and "@GLIBC_" not in name}
    assert not others


def test_everybody_may_read_what_is_installed(tmp_path: Path) -> None:
    """Whatever the umask: OpenSSL passes over a profile that it may not read, and serves by itself."""
    env = {"DESTDIR": str(tmp_path / "root"), "PATH": "/usr/bin:/bin"}
    install = ["cmake", "--install", str(BUILD / "release"), "--prefix", "/usr"]
    subprocess.run(install, env=env, umask=0o077, check=True, capture_output=True)
    paths = list((tmp_path / "root").rglob("*"))
    assert paths
    wanted = {True: 0o755, False: 0o444}
    closed = [p for p in paths if not p.is_symlink() and ~p.stat().st_mode & wanted[p.is_dir()]]
    assert not closed


def test_uninstalling_leaves_no_empty_folder_and_what_is_somebody_s_own(tmp_path: Path) -> None:
    """As a profile that somebody has written where otherwise a link is."""
    root, manifest = tmp_path / "root", tmp_path / "manifest"
    env = {"DESTDIR": str(root), "PATH": "/usr/bin:/bin"}
    links = {f"/etc/ssl/drng/{path.name}": path.name for path in ROOT.glob("conf/*.cnf")}

    def install() -> str:
        """The manifest is made of what is said: the tree's own is every test's."""
        said = said_by("cmake", "--install", str(BUILD / "release"), "--prefix", "/usr", env=env)
        files = re.findall(rf"^-- (?:Installing|Up-to-date): {root}(\S+)$", said, flags=re.M)
        files += [path for path in links if (root / path[1:]).is_symlink()]
        manifest.write_text("".join(f"{file}\n" for file in files if not (root / file[1:]).is_dir()))
        return said

    profile = root / "etc/ssl/drng/drng.cnf"
    profile.parent.mkdir(parents=True)
    profile.write_text("# mine\n")
    assert f"{profile} is no link" in install()
    assert profile.read_text() == "# mine\n"
    undo = ROOT / "scripts/packaging/uninstall.cmake"
    script = ["cmake", f"-DMANIFEST={manifest}", "-P", str(undo)]
    said_by(*script, env=env)
    assert [p for p in root.rglob("*") if not p.is_dir()] == [profile], "what was edited"
    assert [p for p in root.rglob("drng*") if p.is_dir()] == [profile.parent]
    profile.unlink()
    install()
    assert {path: os.readlink(root / path[1:]) for path in links} == {
        path: f"/usr/share/drng/profiles/{name}" for path, name in links.items()
    }
    for conf in (root / "etc/ssl/drng/system.cnf", root / "etc/systemd/system/x.service.d/drng.conf"):
        conf.parent.mkdir(parents=True, exist_ok=True)
        conf.write_text("")
        refused = subprocess.run(script, env=env, capture_output=True, text=True, check=False)
        assert refused.returncode != 0 and "drng is on, by" in refused.stderr
        assert list(root.rglob("drng.so"))
        conf.unlink()
    said_by(*script, env=env)
    assert not list(root.rglob("*drng*"))


@pytest.mark.nightly("the installation of the release preset")
def test_what_people_type_by_habit_is_what_is_released(tmp_path: Path) -> None:
    """Without a build type, with a distribution's flags, and with folders and parts of somebody's own choice."""
    flags = "-DCMAKE_C_FLAGS=-O2 -D_FORTIFY_SOURCE=3"
    chosen = {
        "DRNG_CONF_DIR": "/etc/other/drng",
        "DRNG_UNIT_DIR": "/etc/units",
        "DRNG_APPARMOR": "OFF",
        "DRNG_LIBRARY": "OFF",
    }
    build, root = tmp_path / "build", tmp_path / "root"
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", flags]
    said_by(*configure, "-G", "Ninja", *(f"-D{name}={value}" for name, value in chosen.items()))
    commands = [entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())]
    command = next(each for each in commands if " CMakeFiles/mixing.dir/mixing/entropy/seed.c.o " in each)
    for part in ("-O3", "-DNDEBUG", "-std=c11", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=3"):
        assert part in command.split(), part
    assert "-U_FORTIFY_SOURCE" not in command
    tests = json.loads(said_by("ctest", "--test-dir", str(build), "--show-only=json-v1"))["tests"]
    assert {"seed", "provider_params", "process_stack"} <= {test["name"] for test in tests}
    said_by("ninja", "-C", str(build), "drng", "libdrng", "libdrng_archive")
    env = {"DESTDIR": str(root), "PATH": "/usr/bin:/bin"}
    said_by("cmake", "--install", str(build), "--prefix", "/usr", env=env)
    held = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
    assert {"etc/other/drng/drng.cnf", "etc/units/drng-status-collector.timer"} <= held
    assert not [name for name in held if "apparmor.d" in name or "libdrng" in name or name.endswith("drng.h")]
    assert '"/etc/other/drng"' in (root / "usr/share/drng/__init__.py").read_text()
    assert str(build).encode() not in (build / "libdrng.a").read_bytes()
    assert str(ROOT).encode() not in (build / "libdrng.a").read_bytes()


# As Arch has it: one folder of programs, and flags of its own.
PKGBUILD = f"""\
pkgname=drng
pkgver=1
pkgrel=1
arch=("$CARCH")
options=(!lto)
build() {{
    cmake -S {ROOT} -B build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_INSTALL_SBINDIR=bin -DDRNG_TESTS=OFF
    cmake --build build
}}
package() {{
    DESTDIR="$pkgdir" cmake --install build
}}
"""


@pytest.mark.nightly("the installation of the release preset")
def test_a_pkgbuild_makes_a_package(open_folder: Path) -> None:
    """By makepkg, which is for no root, and which names what a package should not hold."""
    (open_folder / "PKGBUILD").write_text(PKGBUILD)
    shutil.chown(open_folder, "nobody")
    as_nobody = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") if os.geteuid() == 0 else ()
    made = subprocess.run(
        [*as_nobody, need("makepkg"), "--nodeps", "--noconfirm"],
        cwd=open_folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(open_folder), "PACMAN": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stderr.count("WARNING") == 1, f"more than --nodeps: {made.stderr}"
    (package,) = open_folder.glob("drng-1-1-*.pkg.tar*")
    held = set(said_by("bsdtar", "-tf", str(package)).splitlines())
    assert {"usr/bin/drng-enable", "usr/bin/drng-status", "usr/lib/libdrng.so.0"} <= held
    assert [name for name in held if name.endswith("/ossl-modules/drng.so")]


@pytest.mark.parametrize("name", ["drng.so", "libdrng.so.0"])
def test_no_constructor_asks_the_cpu(name: str) -> None:
    """libgcc's executes CPUID twelve times; test_confidential counts what is executed by drng."""
    assert not re.search("__cpu_indicator_init|__cpu_model", said_by("nm", str(BUILD / "dev" / name)))


@pytest.mark.nightly("no_lto.cmake, which each build runs")
def test_link_time_optimization_stays_off(tmp_path: Path) -> None:
    """Whatever the caller's flags say; and what is compiled for it all the same ends the build."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    asked_for = ["-DCMAKE_C_FLAGS=-O2 -flto=auto", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"]
    said_by(*configure, *asked_for)
    said_by("ninja", "-C", str(tmp_path), "libmixing.a")
    compiled = next(tmp_path.rglob("guard.c.o"))
    assert "gnu.lto_" not in said_by("objdump", "--section-headers", str(compiled))
    script = ROOT / "scripts" / "packaging" / "no_lto.cmake"
    for_lto = tmp_path / "for_lto.o"
    source = tmp_path / "for_lto.c"
    source.write_text("int none;\n")
    said_by("gcc", "-flto", "-c", "-o", str(for_lto), str(source))
    check = ["cmake", f"-DOBJECTS={compiled};{for_lto}", "-P", str(script)]
    refused = subprocess.run(check, capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "for_lto.o" in refused.stderr


def sources() -> list[str]:
    return sorted(
        str(p.relative_to(ROOT))
        for folder in ("mixing", "provider", "library", "tests")
        for p in (ROOT / folder).rglob("*.[ch]")
    )


def test_sources_are_formatted() -> None:
    said_by(need("clang-format"), "--dry-run", "--Werror", *sources(), cwd=ROOT)


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """The folder with each file's command: as it is compiled for the product, and not for tests again."""
    said_by("cmake", "--preset", "dev-clang", "-B", str(BUILD / "tidy"), cwd=ROOT)  # configured, and never built
    commands = json.loads((BUILD / "tidy/compile_commands.json").read_text())
    commands.sort(key=lambda entry: " -o tests/" not in entry["command"])
    once = {entry["file"]: entry for entry in commands}
    (tmp_path / "compile_commands.json").write_text(json.dumps([*once.values()]))
    return tmp_path


@pytest.mark.parametrize(
    "checks", ["-clang-analyzer-*", pytest.param("", marks=pytest.mark.nightly("clang-tidy without its analyzer"))]
)
def test_clang_tidy_finds_nothing(compiled: Path, checks: str) -> None:
    """`.clang-tidy` over the product; warnings are errors. The analyzer takes nine tenths of its time."""
    files = rf"{ROOT}/(mixing|provider|library)/.*\.c$"
    run = (need("run-clang-tidy"), "-quiet", "-j", "2", f"-checks={checks}", "-p", str(compiled), files)
    said_by(*run, cwd=ROOT)


def shell_scripts() -> list[str]:
    """By their first line, whatever their names end in; what is read by another has none, and is found by its name."""
    tracked = said_by("git", "ls-files", "-z", cwd=ROOT).split("\0")
    files = [name for name in tracked if name and (ROOT / name).is_file()]
    return [n for n in files if n.endswith(".sh") or re.match(rb"#! ?\S*/(env )?(ba|da)?sh\b", (ROOT / n).read_bytes())]


def test_shell_scripts_are_clean() -> None:
    """What is sourced is followed: `.shellcheckrc`."""
    scripts = shell_scripts()
    assert {".ci/run", "scripts/test.sh", "scripts/ci/packages.sh", "debian/drng-tools.postrm"} <= set(scripts)
    assert "scripts/evidence/collect-raw" in scripts
    said_by(need("shellcheck"), *scripts, cwd=ROOT)


def test_no_script_that_runs_on_others_machines_echoes_what_it_has_not_written() -> None:
    """dash's echo takes \\033 for an escape: a process named so would write to root's terminal."""
    scripts = [name for name in shell_scripts() if re.match(r"conf/|debian/|scripts/(packaging/|demo)", name)]
    assert "debian/drng-tools.postinst" in scripts and "scripts/demo.sh" in scripts
    lines = [(name, line) for name in scripts for line in (ROOT / name).read_text().splitlines()]
    found = [f"{name}: {line.strip()}" for name, line in lines if re.search(r"\becho\b[^|;&>]*[$`]", line)]
    assert not found, "write printf '%s\\n' \"...\" in its place"


def test_what_a_host_runs_is_fixed_and_may_little() -> None:
    """Actions by commit, with the version beside it; rights to read alone; scripts that there are."""
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    assert [path.name for path in workflows] == ["ci.yml", "codeql.yml", "nightly.yml", "scorecard.yml"]
    for path in workflows:
        text = path.read_text()
        used = re.findall(r"uses: (.*)", text)
        assert used
        assert not [name for name in used if not re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name)]
        assert "\npermissions:\n  contents: read\n\n" in text
        assert re.findall(r"(\S+): write", text) == ["security-events"] * (path.name == "codeql.yml")
        # A stranger's change gets no rights over the host.
        for job in re.split(r"(?m)^  (?=\w+:$)", text.partition("\njobs:\n")[2]):
            assert not ("pull_request" in text and "--privileged" in job) or "!= 'pull_request'" in job, job
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")
        for script in re.findall(r"run: (scripts/\S+)", text):
            assert os.access(ROOT / script, os.X_OK), script


@pytest.mark.parametrize(
    "command",
    [
        "ruff check --no-cache .",
        "ruff format --check --no-cache .",
        "mypy --strict --no-incremental scripts/drng",
        "zizmor --offline --quiet --min-severity high .github",
    ],
)
def test_a_tool_of_python_s_finds_nothing(command: str) -> None:
    name, *arguments = command.split()
    tool = BUILD / "venv/bin" / name
    if not tool.exists():
        pytest.skip(f"{name} is not installed: scripts/test.sh could not fetch it")
    said_by(str(tool), *arguments, cwd=ROOT)


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


def test_documents_name_what_is_there() -> None:
    """Paths in backquotes, with * and <name> for any."""
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        paths = re.findall(r"`((?:conf|docs|library|mixing|provider|scripts|tests)/[^`\s]*)`", document.read_text())
        for path in paths:
            assert list(ROOT.glob(re.sub(r"<.*?>", "*", path.rstrip("/")))), f"{document.name}: {path}"
        assert paths or document.name != "CONTRIBUTING.md"


def test_installed_paths_in_documents_and_examples_are_right() -> None:
    """Where profiles, examples and articles are once drng is installed, or what drng-enable writes beside them."""
    conf = ROOT / "conf"
    installed = {
        "/usr/share/doc/drng/docs",
        "/usr/share/doc/drng/examples",
        "/etc/ssl/drng/NAME.cnf",
        "/etc/ssl/drng/system.cnf",
    }
    installed |= {f"/etc/ssl/drng/{p.name}" for p in conf.glob("*.cnf")}
    installed |= {f"/usr/share/doc/drng/examples/{p.relative_to(conf)}" for p in conf.rglob("*")}
    installed |= {f"/usr/share/doc/drng/{p.relative_to(ROOT)}" for p in (*ROOT.glob("*.md"), *installed_pages())}
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.[1-8]"), *conf.rglob("*.c*")]
    for text in texts:
        plain = text.read_text().replace(r"\-", "-").replace("drng/nginx.cnf", "drng/NAME.cnf")
        for path in re.findall(r"/(?:etc/ssl|usr/share/doc)/drng/[\w./-]*\w", plain):
            assert path in installed, text
