# SPDX-License-Identifier: Apache-2.0
"""Proofs: the short ones are run, and the list, the document and the models fit the code."""

import re
import tomllib
from pathlib import Path

import pytest

from scripts import prove
from scripts.mutate import source
from tests.support.builds import ROOT, said_by

FOLDER = ROOT / "tests" / "proofs"
SCRIPT = prove.__file__


def steps(model: Path) -> list[tuple[str, str]]:
    """The function and the text that each step of a model names; a step may stand for several."""
    return re.findall(r"/\* (\w+): (.+?) \*/", model.read_text(encoding="utf-8"))


@pytest.mark.nightly("that lists and models fit the code")
def test_the_short_proofs_hold() -> None:
    said = said_by("nice", SCRIPT, "--quick")
    proved = re.findall(r"^(.*): proved, ([\d,]+) ", said, re.MULTILINE)
    assert [name for name, _ in proved] == [proof.name for proof in prove.read_list() if proof.quick]
    assert all(int(number.replace(",", "")) > 0 for _, number in proved)


@pytest.mark.nightly("that lists and models fit the code")
@pytest.mark.parametrize("name", ["health: equal words", "budget: a look"])
def test_the_prover_refuses_a_mutant(name: str) -> None:
    assert re.search(r"proved, .* [1-9]\d* mutants refused", said_by("nice", SCRIPT, name))


def test_every_proof_has_a_mutant_and_every_mutant_is_there() -> None:
    known = set(tomllib.loads((ROOT / "tests/mutations/mutations.toml").read_text(encoding="utf-8")))
    for proof in prove.read_list():
        assert proof.mutants or proof.broken, proof.name
        assert set(proof.mutants) <= known, proof.name


def test_every_harness_is_in_the_list() -> None:
    listed = {(proof.file, proof.entry) for proof in prove.read_list() if proof.entry}
    written = {
        (file.name, entry)
        for file in FOLDER.glob("*.c")
        for entry in re.findall(r"^void (prove_\w+)\(void\)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert listed == written


@pytest.mark.parametrize("model", sorted(FOLDER.glob("*.pml")), ids=lambda path: path.name)
def test_what_a_step_of_a_model_names_is_in_the_code(model: Path) -> None:
    named = steps(model)
    assert len(named) > 15
    missing = [f"{inside}: {text}" for inside, text in named if not source.places(ROOT, inside, text)[1]]
    assert not missing, f"{model.name} names what the code has not: change the model with the code"


def test_a_verdict_without_properties_or_without_an_end_is_none() -> None:
    silent = prove.read_verdict(0, "[]", "")
    assert silent.complaint
    empty = prove.read_verdict(0, '[{"result": []}, {"cProverStatus": "success"}]', "")
    assert not empty.complaint
    assert not empty.properties
    killed = prove.read_verdict(137, "", "Killed")
    assert killed.complaint == "Killed"
    row = '{"property": "p", "description": "d", "status": "FAILURE", "sourceLocation": {"file": "f.c", "line": "7"}}'
    failed = prove.read_verdict(10, f'[{{"result": [{row}]}}, {{"cProverStatus": "failure"}}]', "")
    assert failed.failed == ["f.c:7: d"]
