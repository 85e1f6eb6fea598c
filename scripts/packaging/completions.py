#!/usr/bin/python3
"""Makes the shells' completions of drng's commands from one table: conf/completions/.

completions.py --write makes them anew; completions.py --check says which are not what the table makes. The tests
compare the table with what each command says to --help.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "completions"

# What an option takes: nothing, a file, a folder, a service, a process, something that nobody can complete, or words.
NONE, FILE, FOLDER_ARG, SERVICE, PROCESS, OTHER = "", "file", "folder", "service", "process", "other"


@dataclass(frozen=True)
class Option:
    """One of a command's; `takes` is one of the words above, or words to choose from with spaces between them."""

    name: str
    help: str
    takes: str = NONE


@dataclass(frozen=True)
class Command:
    """`verbs` with their help, or what its arguments are."""

    name: str
    options: tuple[Option, ...]
    verbs: tuple[tuple[str, str], ...] = ()
    arguments: str = NONE


HELP = (Option("--help", "print a summary of the options"), Option("--version", "print the version"))

COMMANDS = (
    Command(
        "drng-status",
        (
            Option("--pid", "show this process and its children", PROCESS),
            Option("--service", "show the processes of a systemd service", SERVICE),
            Option("--all", "show all processes that use drng"),
            Option("--json", "print JSON, an object a line"),
            Option("--long", "print rows for each process"),
            Option("--needs-restart", "print the units of which processes need a restart"),
            Option("--prometheus", "print metrics"),
            Option("--state", "add counters, whose sums are kept here", FILE),
            Option("--output", "replace this file in one step", FILE),
            Option("--check", "print one line and exit with 0, 1, 2 or 3"),
            Option("--perfdata", "add performance data"),
            Option("--warning", "status 1 above this number", "fallback-seeds= failures="),
            Option("--critical", "status 2 above this number", "fallback-seeds= failures="),
            Option("--watch", "repeat every 2 seconds, or every SECONDS", OTHER),
            *HELP,
        ),
    ),
    Command(
        "drng-enable",
        (
            Option("--system", "the openssl.cnf that every program reads"),
            Option("--service", "one systemd service", SERVICE),
            Option("--profile", "the profile to put into effect", "strict permissive random-provider fips"),
            Option("--try", "switch off again after a time, unless confirmed", "10m 1h"),
            Option("--dry-run", "print the changes, and write nothing"),
            Option("--conf", "use this openssl.cnf", FILE),
            Option("--profiles", "read the profiles from here", FOLDER_ARG),
            Option("--root", "work on the system image under this folder", FOLDER_ARG),
            *HELP,
        ),
        verbs=(
            ("on", "put the profile into effect"),
            ("off", "remove what on wrote"),
            ("status", "say whether drng is on"),
            ("confirm", "end a trial, and leave drng on"),
        ),
    ),
    Command(
        "drng-conf",
        (
            Option("--shell", "print the names of the sections as shell variables"),
            Option("--before", "warn of each setting of this file that the other does not have", FILE),
            *HELP,
        ),
        arguments=FILE,
    ),
)

MADE = "# made by scripts/packaging/completions.py, from its table\n"
SERVICES = (
    "systemctl list-units --type=service --all --plain --no-legend 2>/dev/null | "
    "sed 's/\\.service .*//; s/^[^A-Za-z0-9]*//'"
)


# ---- bash ----

# A line each: a file may have spaces in its name, or what the shell would expand.
BASH_TAKES = {
    FILE: "_drng_reply -f; compopt -o filenames",
    FOLDER_ARG: "_drng_reply -d; compopt -o filenames",
    SERVICE: f"_drng_lines < <({SERVICES})",
    PROCESS: "_drng_lines < <(ps -e -o pid=)",
    OTHER: ":",
}
# What other programs print is not for `compgen -W`, which expands it: systemd has a backslash in the name of a unit in
# the place of other characters. It is quoted, since what is completed is read by the shell again.
BASH_REPLY = """\
_drng_reply()
{
    mapfile -t COMPREPLY < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")
}

"""
BASH_LINES = """\
_drng_lines()
{
    local line
    while read -r line; do
        printf -v line %q "$line"
        [[ $line != "${COMP_WORDS[COMP_CWORD]}"* ]] || COMPREPLY+=("$line")
    done
}

"""


def bash_words(words: str) -> str:
    """None of them is complete where it ends with an equals sign."""
    return f'_drng_reply -W "{words}"' + ("; compopt -o nospace" if "=" in words else "")


def bash(command: Command) -> str:
    function = f"_{command.name.replace('-', '_')}"
    names = " ".join(option.name for option in command.options)
    cases = "".join(
        f"    {option.name}) {BASH_TAKES.get(option.takes) or bash_words(option.takes)}; return ;;\n"
        for option in command.options
        if option.takes
    )
    words = " ".join([*(verb for verb, _ in command.verbs), names])
    rest = f"    {bash_words(words)}\n"
    if command.arguments:
        rest = (
            f"    case ${{COMP_WORDS[COMP_CWORD]}} in\n    -*) {bash_words(names)} ;;\n"
            f"    *) {BASH_TAKES[command.arguments]} ;;\n    esac\n"
        )
    lines = BASH_LINES if "_drng_lines" in cases else ""
    return (
        f"{MADE}# shellcheck shell=bash\n\n{BASH_REPLY}{lines}{function}()\n{{\n"
        f"    COMPREPLY=()\n    case ${{COMP_WORDS[COMP_CWORD - 1]}} in\n{cases}    esac\n{rest}}}\n\n"
        f"complete -F {function} {command.name}\n"
    )


# ---- zsh ----

ZSH_TAKES = {
    FILE: ":file:_files",
    FOLDER_ARG: ":folder:_files -/",
    SERVICE: ":service:_drng_services",
    PROCESS: ":process:_pids",
    OTHER: ":value:",
}


def zsh_option(option: Option) -> str:
    takes = ZSH_TAKES.get(option.takes, f":value:({option.takes})" if option.takes else "")
    return f"'{option.name}[{option.help}]{takes}'"


def zsh(commands: tuple[Command, ...]) -> str:
    made = f"#compdef {' '.join(command.name for command in commands)}\n{MADE}\n"
    made += "_drng_services()\n{\n    local -a services\n"
    made += f'    services=(${{(f)"$({SERVICES})"}})\n    compadd -a services\n}}\n\ncase $service in\n'
    for command in commands:
        lines = [zsh_option(option) for option in command.options]
        if command.verbs:
            verbs = " ".join(f'{verb}\\:"{text}"' for verb, text in command.verbs)
            lines.append(f"'1:verb:(({verbs}))'")
        elif command.arguments:
            lines.append(f"'*{ZSH_TAKES[command.arguments]}'")
        made += (
            f"{command.name})\n    _arguments \\\n" + " \\\n".join(f"        {line}" for line in lines) + "\n    ;;\n"
        )
    return made + "esac\n"


# ---- fish ----

FISH_TAKES = {
    FILE: " -r -F",
    FOLDER_ARG: " -x -a '(__fish_complete_directories)'",
    SERVICE: f' -x -a "({SERVICES})"',
    PROCESS: " -x -a '(__fish_complete_pids)'",
    OTHER: " -x",
}


def fish(command: Command) -> str:
    lines = [MADE.rstrip(), ""]
    if not command.arguments:
        lines.append(f"complete -c {command.name} -f")
    verbs = " ".join(verb for verb, _ in command.verbs)
    for verb, text in command.verbs:
        lines.append(f"complete -c {command.name} -n 'not __fish_seen_subcommand_from {verbs}' -a {verb} -d '{text}'")
    for option in command.options:
        takes = FISH_TAKES.get(option.takes, f" -x -a '{option.takes}'" if option.takes else "")
        lines.append(f"complete -c {command.name} -l {option.name.removeprefix('--')} -d '{option.help}'{takes}")
    return "\n".join(lines) + "\n"


# ---- Files ----


def made() -> dict[str, str]:
    """By their names: where the shells look, they must have these."""
    files = {f"bash/{command.name}": bash(command) for command in COMMANDS}
    files |= {f"fish/{command.name}.fish": fish(command) for command in COMMANDS}
    return {**files, "zsh/_drng": zsh(COMMANDS)}


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        for name, text in made().items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text)
        return 0
    if arguments != ["--check"]:
        print("usage: completions.py --write | --check", file=sys.stderr)
        return 64
    found = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*") if path.is_file()}
    wrong = sorted(name for name in found.keys() | made().keys() if found.get(name) != made().get(name))
    for name in wrong:
        print(f"conf/completions/{name} is not what the table makes: run scripts/packaging/completions.py --write")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
