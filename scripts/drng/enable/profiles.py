"""The profiles as they are installed, and the lines that they become."""

from __future__ import annotations

import re

from ..conf.meaning import Meaning
from ..files import Tree
from ..terminal import Failure, Unchanged, say, warn
from . import block, programs
from .arguments import PROFILES, SINCE_3_5, Request
from .verify import Check


def path_of(request: Request) -> str:
    return f"{request.profiles}/{PROFILES[request.profile][0]}"


def text_of(tree: Tree, request: Request) -> str:
    path = path_of(request)
    data = tree.read(path)
    if data is None:
        raise Failure(
            f"{tree.shown(path)} is not installed: install drng again, or name the directory of the profiles with "
            "--profiles"
        )
    return block.decode(data)


def require_version(tree: Tree, request: Request) -> None:
    if request.profile not in SINCE_3_5 or not tree.live:
        return
    said = programs.openssl("version").stdout.strip()
    found = re.match(r"OpenSSL (\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < (3, 5):
        raise Failure(f"{request.profile} needs OpenSSL 3.5 or later; this is {said}")


def wanted(tree: Tree, request: Request, meaning: Meaning, base: str) -> str:
    """What `on` would write after this base for the profile of the request."""
    names = block.Names.of(meaning)
    return block.block(base, request.profile, path_of(request), text_of(tree, request), names)


def lines(tree: Tree, request: Request, check: Check, base: str, was_on: bool, conf: str) -> str:
    """Our lines after this base. What it says of drng must come from lines that we put there."""
    meaning = check.meaning(base)
    if meaning.drng and not was_on:
        raise Unchanged(
            f"{conf}, or a file that it includes, activates drng already, by lines that drng-enable did not write; "
            "remove them first, or keep them"
        )
    if meaning.random and not was_on:
        warn(f"[{meaning.init}] random = {meaning.random} has no effect while drng is on")
    return wanted(tree, request, meaning, base)


def compare(tree: Tree, request: Request, check: Check, base: str, text: str, conf: str, scope: str) -> None:
    """Says so where `on` would now write other lines than those that are there."""
    if request.profile not in PROFILES:
        say(f"{conf}: there is no profile '{request.profile}'; run drng-enable on {scope} to write the lines again")
        return
    try:
        lines = wanted(tree, request, check.meaning(base), base)
    except Failure as error:
        say(str(error))
        return
    ours = block.of(text)
    if block.unseal(ours) != ours and not block.is_as_sealed(ours):
        say(
            f"{conf}: somebody has changed the lines that drng-enable wrote: put your settings into "
            f"{tree.shown(path_of(request))}, and run drng-enable on {scope} to write the lines again"
        )
        return
    # What somebody has written behind our lines is theirs, and no other profile.
    if block.of(lines).partition("\n")[2] != block.of(text).partition("\n")[2]:
        say(
            f"the profile in {tree.shown(path_of(request))} differs from the lines in effect: "
            f"run drng-enable on {scope} to write the new ones"
        )
