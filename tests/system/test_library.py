# SPDX-License-Identifier: Apache-2.0
"""libdrng as it is built and installed: what it exports and needs, its header, its manual, and programs that use it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.drng import VERSION
from tests.support.builds import BUILD, ROOT, VALGRIND, need, said_by

RELEASE = BUILD / "release"
HEADER = ROOT / "library" / "drng.h"
EXAMPLES = ROOT / "docs" / "library"
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cmake --install` leaves below a prefix of its own."""
    prefix = tmp_path_factory.mktemp("prefix")
    for component in ("libdrng0", "libdrng-dev"):
        said_by("cmake", "--install", RELEASE, "--prefix", prefix, "--component", component)
    return prefix


def pkg_config(prefix: Path, *arguments: str) -> list[str]:
    (folder,) = prefix.rglob("pkgconfig")
    return said_by(
        "pkg-config", *arguments, "drng", env={"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"}
    ).split()


def libdir(prefix: Path) -> Path:
    return next(prefix.rglob("libdrng.a")).parent


def compiled(prefix: Path, source: Path, program: Path, *options: str | Path, compiler: str = "gcc") -> Path:
    said_by(compiler, *STRICT, *pkg_config(prefix, "--cflags"), source, "-o", program, *options)
    return program


def run(prefix: Path, *command: str | Path) -> str:
    return said_by(*command, env={"LD_LIBRARY_PATH": str(libdir(prefix)), "PATH": "/usr/bin:/bin"})


# ---- What it exports and needs ----


def declared() -> set[str]:
    """The calls of drng.h."""
    calls = re.findall(r"^DRNG_(?:API|RESULT) [^;]*?\b(drng_\w+)\(", HEADER.read_text(), flags=re.M)
    assert len(calls) == len(set(calls))
    return set(calls)


def test_the_libraries_export_what_the_header_declares() -> None:
    assert len(declared()) >= 20
    shared = said_by("nm", "-D", "--defined-only", RELEASE / "libdrng.so").splitlines()
    symbols = {line.split()[-1] for line in shared if " T " in line}
    assert {name.partition("@@")[0] for name in symbols} == declared()
    assert {name.partition("@@")[2] for name in symbols} == {"DRNG_1.0"}
    assert {line.split()[-1] for line in shared if " T " not in line} == {"DRNG_1.0"}, "and nothing else"
    archive = said_by("nm", "-g", "--defined-only", RELEASE / "libdrng.a").splitlines()
    assert {line.split()[-1] for line in archive if len(line.split()) == 3} == declared()


def test_the_manual_has_every_call_and_every_error() -> None:
    page = (ROOT / "docs" / "libdrng.3").read_text().replace(r"\-", "-")
    synopsis = page.partition(".SH DESCRIPTION")[0]
    assert set(re.findall(r"\b(drng_\w+)\(", synopsis)) == declared()
    errors = page.partition(".SH ERRORS")[2].partition(".SH NOTES")[0]
    assert set(re.findall(r"^\.B (DRNG_E_\w+)$", errors, flags=re.M)) == set(
        re.findall(r"^    (DRNG_E_\w+),? ", HEADER.read_text(), flags=re.M)
    )
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    constants = set(
        re.findall(r"\bDRNG_[A-Z0-9_]+\b", "".join(re.findall(r"^enum[^{]*\{(.*?)\}", header, re.M | re.S)))
    )
    assert {"DRNG_SEED_GRADE_ONLY", "DRNG_BY_HMAC_SHA256", "DRNG_GRADE_KERNEL", "DRNG_RETRIES"} <= constants
    assert not [name for name in constants if not re.search(rf"^\.(B|BR|RB) .*\b{name}\b", page, flags=re.M)]
    for struct in ("drng_seed_info", "drng_info"):
        body = re.search(rf"^struct {struct} \{{(.*?)^\}}", header, flags=re.M | re.S)
        assert body
        members = re.findall(r"(\w+)(?:\[\d+\])?;", body[1])
        assert (
            re.findall(r'^\.BI ".*" (\w+)', page.partition(f".SS struct {struct}\n")[2].partition("\n.S")[0], re.M)
            == members
        )


def test_the_example_of_the_manual_runs(installed: Path, tmp_path: Path) -> None:
    """Compiled as it says, and without a warning."""
    page = (ROOT / "docs" / "libdrng.3").read_text().partition(".SH EXAMPLES")[2]
    (tmp_path / "key.c").write_text(page.partition(".nf\n")[2].partition(".fi\n")[0].replace("\\e", "\\"))
    program = compiled(installed, tmp_path / "key.c", tmp_path / "key", *pkg_config(installed, "--libs"))
    assert re.fullmatch(r"32 bytes, seeded by \w+\n", run(installed, program))


def test_each_call_has_its_page_and_drng_is_that_of_the_whole(installed: Path) -> None:
    env = {"MANPATH": str(installed / "share" / "man"), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    shown = {
        name: subprocess.run(["man", "-w", name], env=env, capture_output=True, text=True, check=False).stdout.strip()
        for name in ("drng", *sorted(declared()))
    }
    assert shown.pop("drng") == "", "drng(7) is installed with the provider"
    assert {Path(path).name for path in shown.values()} == {"libdrng.3"}
    assert "drng_conditioned_seed" in said_by("man", "-P", "cat", "drng_open", env=env)


def test_the_shared_library_needs_libc_alone_and_is_hardened() -> None:
    dynamic = said_by("readelf", "--wide", "--dynamic", "--program-headers", RELEASE / "libdrng.so")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert needed - {"ld-linux-x86-64.so.2"} == {"libc.so.6"}
    assert "Library soname: [libdrng.so.0]" in dynamic
    assert "NODELETE" in dynamic
    assert "BIND_NOW" in dynamic
    assert "GNU_RELRO" in dynamic
    assert "RWE" not in next(line for line in dynamic.splitlines() if "GNU_STACK" in line)
    undefined = [line.split() for line in said_by("nm", "-D", "--undefined-only", RELEASE / "libdrng.so").splitlines()]
    assert not [name for kind, name in undefined if kind == "U" and "@GLIBC_" not in name]
    assert len(undefined) > 20


def test_it_neither_prints_nor_ends_the_program() -> None:
    wanted = said_by("nm", "--undefined-only", RELEASE / "libdrng.a")
    names = {line.split()[-1] for line in wanted.splitlines() if " U " in line}
    assert "mmap" in names
    ends = {"exit", "_exit", "_Exit", "abort", "raise", "kill", "__assert_fail"}
    prints = {"printf", "fprintf", "puts", "write", "syslog", "perror", "stdout", "stderr", "__printf_chk"}
    assert not names & (ends | prints | {"__fprintf_chk"})


# ---- The header ----


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ("-std=c99", "-x", "c")),
        ("gcc", ("-std=c11", "-x", "c")),
        (
            "clang",
            ("-std=c11", "-x", "c", "-Weverything"),
        ),
        ("g++", ("-std=c++98", "-x", "c++", "-Wno-long-long")),
        ("g++", ("-std=c++17", "-x", "c++")),
        ("clang", ("-std=c++17", "-x", "c++")),
        ("musl-gcc", ("-std=c11", "-x", "c")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0].removeprefix("-std="),
)
def test_the_header_is_clean(compiler: str, options: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "use.c"
    source.write_text("#include <drng.h>\nint main(void) { return drng_random_supported(0); }\n")
    said_by(compiler, *STRICT, *options, "-I", HEADER.parent, "-fsyntax-only", source)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx_can_name_the_types(compiler: str, tmp_path: Path) -> None:
    """The function drng_info() hides the struct of that name."""
    need(compiler)
    source = tmp_path / "use.cc"
    named = "drng *a; drng_handle_info b; drng_seed_info c; struct drng_info d;"
    source.write_text(f"#include <drng.h>\n{named}\nint f() {{ return drng_info(a, &b) + drng_info(a, &d); }}\n")
    said_by(compiler, *STRICT, "-I", HEADER.parent, "-fsyntax-only", source)


def test_a_result_that_is_ignored_is_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "careless.c"
    source.write_text("#include <drng.h>\nint main(void) { drng_read(0, 0, 0); return 0; }\n")
    result = subprocess.run(
        ["gcc", *STRICT, "-I", HEADER.parent, "-c", "-o", "/dev/null", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "unused-result" in result.stderr


# ---- Installed ----


def test_pkg_config_leads_to_where_it_is_installed(installed: Path) -> None:
    said = [
        str(Path(word[2:]).resolve())
        for word in pkg_config(installed, "--cflags", "--libs")
        if word[:2] in ("-I", "-L")
    ]
    assert said == [str(installed / "include"), str(libdir(installed))]
    assert "-pthread" in pkg_config(installed, "--libs", "--static")
    assert pkg_config(installed, "--modversion") == [VERSION]


CMAKE_LISTS = """cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(drng 1.0 REQUIRED)
add_executable(shared {example})
target_link_libraries(shared drng::drng)
add_executable(static {example})
target_link_libraries(static drng::static)
"""


def test_cmake_finds_it(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_LISTS.format(example=EXAMPLES / "fill.c"))
    build = tmp_path / "build"
    said_by("cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={installed}")
    said_by("cmake", "--build", build)
    for name in ("shared", "static"):
        assert "seeded by " in run(installed, build / name)
    assert "libdrng.so.0" in said_by("readelf", "--dynamic", build / "shared")
    assert "libdrng" not in said_by("readelf", "--dynamic", build / "static")


@pytest.mark.nightly("folders below a prefix")
def test_folders_may_be_absolute(tmp_path: Path) -> None:
    """As Nix has them, and those of development below another prefix."""
    out, build = tmp_path / "out", tmp_path / "build"
    chosen = {f"CMAKE_INSTALL_{name.upper()}DIR": out / name for name in ("bin", "sbin", "lib", "man", "doc")}
    chosen |= {"CMAKE_INSTALL_INCLUDEDIR": tmp_path / "dev/include", "CMAKE_INSTALL_DATADIR": out / "share"}
    chosen |= {f"DRNG_{name}_DIR": out / name.lower() for name in ("MODULES", "CONF", "UNIT", "APPARMOR")}
    words = [f"-D{name}={path}" for name, path in chosen.items()]
    said_by(
        "cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DDRNG_TESTS=OFF", f"-DCMAKE_INSTALL_PREFIX={out}", *words
    )
    said_by("cmake", "--build", build)
    said_by("cmake", "--install", build)
    for name in (
        "lib/libdrng.so.0",
        "modules/drng.so",
        "apparmor/abstractions/drng",
        "unit/drng-status-collector.timer",
    ):
        assert (out / name).is_file(), name
    flags = pkg_config(out, "--cflags", "--libs")
    assert flags == [f"-I{tmp_path}/dev/include", f"-L{out}/lib", "-ldrng"]
    (tmp_path / "user").mkdir()
    test_cmake_finds_it(out, tmp_path / "user")
    command = f"{out}/bin/drng-status"
    assert f"\nExecStart={command} " in (out / "unit/drng-status-collector.service").read_text()
    drawn = {"OPENSSL_CONF": str(out / "conf/drng.cnf"), "PATH": "/usr/bin:/bin"}
    assert len(said_by("openssl", "rand", "-hex", "8", env=drawn)) == 17
    assert json.loads(said_by(command, "--json", env=drawn))["active-source"] != "none"


# ---- Programs that use it ----


HEX32 = r"[0-9a-f]{64}"


def linked(prefix: Path, how: str) -> list[str | Path]:
    return [libdir(prefix) / "libdrng.a"] if how == "static" else pkg_config(prefix, "--libs")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("how", ["shared", "static"])
def test_the_example_that_fills_a_buffer(installed: Path, tmp_path: Path, how: str, compiler: str) -> None:
    program = compiled(
        installed, EXAMPLES / "fill.c", tmp_path / "fill", *linked(installed, how), compiler=need(compiler)
    )
    texts = [run(installed, program) for _ in range(2)]
    for text in texts:
        assert re.match(rf"seeded by \w+.*\n{HEX32}\n(words of \w+\n[0-9a-f]{{128}}|no words: .*)\n$", text), text
    assert texts[0] != texts[1]


@pytest.mark.parametrize("how", ["shared", "static"])
def test_the_example_that_seeds_a_generator_of_its_own(installed: Path, tmp_path: Path, how: str) -> None:
    program = compiled(installed, EXAMPLES / "own_generator.c", tmp_path / "own", *linked(installed, how))
    texts = [run(installed, program).splitlines() for _ in range(2)]
    for source, state, pi in texts:
        assert re.match(r"seed of \w+, conditioner [\w-]+, \d+ raw words with \d+ bits claimed for 16 bytes$", source)
        assert re.fullmatch(r"([0-9a-f]{16} ?){4}", state)
        assert 3.12 < float(pi.split()[-1]) < 3.16
    assert texts[0][1] != texts[1][1]


def test_the_example_for_python(installed: Path) -> None:
    environment = {"DRNG_LIBRARY": str(libdir(installed) / "libdrng.so.0"), "PATH": "/usr/bin:/bin"}
    text = said_by("/usr/bin/python3", EXAMPLES / "drng.py", env=environment)
    assert re.match(rf"(True|False) \S.*\n{HEX32}\n{HEX32} from \w+\n$", text), text


def test_the_example_for_rust(installed: Path, tmp_path: Path) -> None:
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("rustc is not installed (package rustc)")
    options = ["-D", "warnings", "-A", "dead_code", "-L", libdir(installed)]
    said_by(rustc, *options, "-o", tmp_path / "drng", EXAMPLES / "drng.rs")
    lines = run(installed, tmp_path / "drng").splitlines()
    assert re.fullmatch(HEX32, lines[0])
    assert re.fullmatch(rf"{HEX32} from \w+", lines[-1])
    assert len(lines) == 4


def test_a_program_with_names_of_mixing_links_the_archive(installed: Path, tmp_path: Path) -> None:
    """Their own functions, and not the library's, are what they call, and the library calls its own."""
    source = tmp_path / "clash.c"
    source.write_text(
        "#include <drng.h>\n#include <stdio.h>\n"
        "int drng_lock(void) { return 7; }\nint drng_seed_get(void) { return 8; }\nint drng_fork_page = 9;\n"
        "int main(void) { drng *d; if (drng_open(&d, DRNG_ANY) != 0) { return 1; } drng_close(d);\n"
        'printf("%d %d %d\\n", drng_lock(), drng_seed_get(), drng_fork_page); return 0; }\n'
    )
    program = compiled(installed, source, tmp_path / "clash", *linked(installed, "static"))
    assert run(installed, program) == "7 8 9\n"


TWO_COPIES = """
#include <dlfcn.h>
#include <drng.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*open_it)(drng **, int);
    int (*read_it)(drng *, void *, size_t);
    void (*close_it)(drng *);
    char bytes[32];
    drng *own;
    drng *its;
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    *(void **)&open_it = dlsym(library, "drng_open");
    *(void **)&read_it = dlsym(library, "drng_read");
    *(void **)&close_it = dlsym(library, "drng_close");
    int failed = drng_open(&own, DRNG_ANY) || open_it(&its, DRNG_ANY);
    failed = failed || read_it(its, bytes, 32) || drng_read(own, bytes, 32);
    close_it(its);
    drng_close(own);
    printf("%d %d\\n", failed, open_it == (int (*)(drng **, int))drng_open);
    return 0;
}
"""


def test_two_copies_in_one_process(installed: Path, tmp_path: Path) -> None:
    """The shared one calls its own functions, and not those of a program that exports the archive's."""
    source = tmp_path / "two.c"
    source.write_text(TWO_COPIES)
    program = compiled(installed, source, tmp_path / "two", *linked(installed, "static"), "-rdynamic")
    assert run(installed, program, libdir(installed) / "libdrng.so.0") == "0 0\n"
    relocations = said_by("readelf", "--wide", "--relocs", libdir(installed) / "libdrng.so")
    assert "malloc" in relocations or "calloc" in relocations
    assert not re.findall(r"\bdrng_\w+@", relocations), "calls that another copy could take over"


def test_the_example_under_valgrind(installed: Path, tmp_path: Path) -> None:
    program = compiled(installed, EXAMPLES / "fill.c", tmp_path / "fill", *linked(installed, "shared"))
    assert "seeded by " in run(installed, *VALGRIND, program)


# ---- Other CPUs, under QEMU's user mode ----


def on_cpu(installed: Path, tmp_path: Path, cpu: str) -> list[str]:
    """What the example says there. The archive, since the emulator has the loader's libraries from here."""
    program = compiled(installed, EXAMPLES / "fill.c", tmp_path / "fill", *linked(installed, "static"))
    return run(installed, need("qemu-x86_64"), "-cpu", cpu, program).splitlines()


def test_a_cpu_without_an_instruction(installed: Path, tmp_path: Path) -> None:
    seeded, _, words = on_cpu(installed, tmp_path, "Nehalem")
    assert seeded == "seeded by getrandom, since RDSEED: not in this CPU; RDRAND: not in this CPU"
    assert words == "no words: not in this CPU"


def test_a_cpu_without_rdseed(installed: Path, tmp_path: Path) -> None:
    """Its seeds take thousands of words, which an emulator may not give in time."""
    seeded, _, words, _ = on_cpu(installed, tmp_path, "IvyBridge")
    assert re.fullmatch(r"seeded by (RDRAND|getrandom), since RDSEED: not in this CPU(; RDRAND: too few .*)?", seeded)
    assert words == "words of RDRAND"


def test_a_cpu_whose_instruction_is_known_to_be_broken(installed: Path, tmp_path: Path) -> None:
    """QEMU's "max" calls itself one."""
    seeded, _, words = on_cpu(installed, tmp_path, "max")
    assert "RDRAND: known to be broken on this CPU model" in seeded
    assert words == "no words: known to be broken on this CPU model"
