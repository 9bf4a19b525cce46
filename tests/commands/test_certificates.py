"""Files in the command line: certificates, and what is none."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from exactdice.baselines import Task, certificate
from exactdice.baselines.scoring.certificate import digest_of
from exactdice.games import Greed

import exactdice


def test_a_certificate_brings_its_game(run, prints, certified, monkeypatch):
    words, value = certified.task.words, f"{certified.value:.6f}"
    for options in ([], ["greed", "--env", "seat", 1, "max_score", 7]):
        said = prints("score", "mine.npz", *options)
        assert words in said
        assert value in said
    assert prints("score", "mine.npz", "--env", "opponent", "if_else")
    for agents in (("mine.npz", "if_else"), ("optimal", "mine.npz")):
        said = prints("compare", *agents)
        assert said.startswith(f"{words}\n")
        assert value in said
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run("play", "--watch", "mine.npz", "--env", "seat", 1)[0] == 0


@pytest.mark.usefixtures("mine")
def test_a_certificate_is_verified_and_a_broken_one_named(run, prints):
    said = prints("verify", "mine/certificate.npz")
    value = json.loads(Path("mine/score.json").read_text())["value"]
    assert ": MaskablePPO in Greed, max_score 10, sides 3, seat 0, against optimal\n" in said
    assert f"mine/certificate.npz: holds, value {value:.9f}, " in said
    Path("cut.npz").write_bytes(Path("mine/certificate.npz").read_bytes()[:-9])
    code, again, complaint = run("verify", "none.npz", "cut.npz", "mine/certificate.npz")
    missing, cut = complaint.splitlines()
    wanted = "none.npz must be a certificate that can be read: No such file or directory"
    assert (code, again, missing) == (2, said, f"error: {wanted}")
    assert "error: cut.npz must be a whole policy certificate" in cut
    assert prints("verify", "mine")
    code, _, complaint = run("verify", "mine", "exactdice.games:ShutTheBox")
    assert (code, complaint) == (1, "error: mine must be of ShutTheBox, got one of Greed\n")


def test_the_certificates_of_an_archive_are_named_as_in_a_folder(run, prints, certified):
    archive = Path("track/certificates.zip")
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as file:
        for name in ("mine.npz", "other.npz"):
            file.write(name)
    for place in ("track", archive):
        found = [line.partition(":")[0] for line in prints("verify", place).splitlines()]
        assert found == [f"{archive}/mine.npz", f"{archive}/other.npz"]
    assert f"{certified.value:.6f}" in prints("compare", archive / "mine.npz", "if_else")
    code, _, complaint = run("verify", archive / "none.npz", archive / "mine.npz")
    assert code == 2
    assert f"{archive}/none.npz must be a certificate that can be read: there is no" in complaint
    content = bytearray(archive.read_bytes())
    content[60] ^= 1  # in the data of the first member
    archive.write_bytes(content)
    code, said, complaint = run("verify", "track")
    assert code == 2
    assert f"{archive}/mine.npz must be a whole policy certificate: " in complaint
    assert f"{archive}/other.npz: holds" in said
    archive.write_bytes(content[:-9])
    assert "certificates.zip must be a whole policy certificate" in run("verify", archive)[2]


TAKE_FILES = ["verify", "score", "compare if_else", "report", "audit", "diagnose", "board", "plot"]
TAKE_FILES += ["plot mistakes", "train --conf", "train --resume", "train --env opponent"]
TAKE_FILES += ["play --resume", "play --watch", "submit --title a --link https://a.b"]


@pytest.mark.parametrize("words", TAKE_FILES)
def test_a_file_of_the_wrong_kind_is_a_mistake_in_what_was_typed(refusal, foreign, words):
    for name in foreign:
        refusal(*words.split(), name)


def test_a_claim_or_a_hash_that_does_not_hold_is_a_finding(run):
    content = certificate(exactdice.score("random", Task(Greed(5, 3))))
    with np.load(io.BytesIO(content)) as file:
        parts = {name: file[name] for name in file.files}
    parts["claims"] = str(parts["claims"]).replace('"value": 0.', '"value": 0.9')
    hashed = parts | {"sha256": digest_of(parts["policy"], parts["claims"])}
    for given, words in (parts, "must have the hash"), (hashed, "claims value = 0.9"):
        np.savez("wrong.npz", **given)
        code, _, complaint = run("verify", "wrong.npz")
        assert code == 1
        assert words in complaint


def test_no_name_in_a_certificate_forges_a_line(run, prints):
    name = "x\x1b[1A\nhonest.npz: holds, value 1"
    content = certificate(exactdice.score("random", Task(Greed(5, 3)), name=name))
    paths = ["a.npz", "b\nb.npz: holds.\x1b[2K\r", "c\udcff.npz"]
    for path in paths:
        Path(path).write_bytes(content)
    code, shown, complaint = run("verify", *paths)
    assert (code, complaint) == (0, "")
    Path("d\x1b[2K\nd.npz").write_bytes(content)
    said = prints("compare", "random", "d\x1b[2K\nd.npz", "--env", "max_score", 5, "sides", 3)
    assert all(line.isprintable() for line in said.splitlines())
    assert "\nd.npz" not in said
    for path in paths:
        Path(path).write_bytes(content[:-9])
    code, _, refused = run("verify", *paths)
    assert code == 2
    for lines in (shown.splitlines(), refused.splitlines()):
        assert len(lines) == len(paths)
        assert all(line.isprintable() for line in lines)
