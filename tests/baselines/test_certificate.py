"""Policy certificates."""

import json
import random
import struct
import sys
import time
import zipfile
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import CertificateError, Task, cache, certificate, random_value, verify
from exactdice.baselines.policies.called import CalledPolicy
from exactdice.baselines.scoring.certificate import CLAIMS, digest_of
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox
from sb3_contrib import MaskablePPO

import exactdice

MODULE = sys.modules[CertificateError.__module__]

TASKS = [
    Task(Greed(10, 3), 1, "if_else"),
    Task(LowestScore(2, 3, 3, 3), 1, ["notebook", "random"]),
    Task(ShutTheBox(4, 2, 3), 1),
    Task(FourTwoOne(2, 3, 2, utility=lambda faces, casts: sum(faces) / casts)),
]


@pytest.mark.parametrize("policy", ["optimal", "random"])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_a_certificate_is_verified_by_computing_everything_anew(tmp_path, task, policy):
    score = exactdice.score(policy, task)
    score.save(path := tmp_path / "certificate.npz")
    found = verify(path)
    assert (found.task.game, found.task.seat) == (task.game, task.seat)
    assert list(found.task.labels.values()) == list(task.labels.values())
    assert (found.optimum, found.policy) == (score.optimum, policy)
    assert found.value == pytest.approx(score.value, abs=1e-12)  # of a table, not of a name
    assert found.deterministic == score.deterministic


def test_a_network_of_a_large_game_with_arrays_is_certified_as_a_table(tmp_path, monkeypatch):
    """Although a score calls it only where its games go."""
    monkeypatch.setattr("exactdice.baselines.policies.called.LARGE", 10)
    task, env = TASKS[2], gym.make("exactdice/ShutTheBox-v0", tiles=4, sides=3, seat=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=0)
    score = exactdice.score(model, env)
    assert isinstance(score.agent, CalledPolicy)
    score.save(path := tmp_path / "certificate.npz")
    found = verify(path)
    assert (found.task, found.value) == (task, pytest.approx(score.value, abs=1e-12))


@pytest.fixture
def whole(tmp_path):
    exactdice.score("if_else", Task(Greed(10, 3))).save(path := tmp_path / "certificate.npz")
    return path


def require_refusal(path, message):
    with pytest.raises(CertificateError, match=message) as caught:
        verify(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def rewrite(path, change, digest=digest_of):
    """Change policy or claims, with a hash that fits."""
    with np.load(path) as file:
        parts = {"policy": file["policy"], "claims": str(file["claims"])}
    change(parts)
    np.savez_compressed(path, **parts, sha256=digest(**parts))


def edited(**changes):
    """Change claims, or, in a mapping, keywords."""

    def change(parts):
        claims = json.loads(parts["claims"])
        keywords = claims["keywords"] | changes.get("keywords", {})
        parts["claims"] = json.dumps(claims | changes | {"keywords": keywords})

    return change


def with_keyword(**keywords):
    return edited(keywords=keywords)


def replaced(old, new):
    def change(parts):
        assert old in parts["claims"]
        parts["claims"] = parts["claims"].replace(old, new)

    return change


def with_size(text):
    return replaced('"max_score": 10', f'"max_score": {text}')


def filled(number, *width, dtype=None):
    """Change the policy into a table, or actions, of one number."""
    return lambda parts: parts.update(policy=np.full((242, *width), number, dtype))


def other_move(parts):
    parts["policy"][0] += 1


LONGER = (  # where there are longer floats than are read
    "must hold probabilities .*sum to 1|leave illegal actions alone"
    if np.dtype(np.longdouble).itemsize == 8
    else "must hold actions or probabilities as policy, got"
)
#: What is changed, and what is said of it, by name.
CHANGES = {
    "better": (replaced('"value": 0.', '"value": 0.9'), "claims value = 0.9.*, computed is 0.4"),
    "other move": (other_move, "claims value = .*, computed is"),
    "illegal move": (lambda parts: parts["policy"].put(5, 200), "Greed.*legal actions, got 200"),
    "nan": (filled(np.nan, 9), "must hold probabilities from 0 to 1"),
    "longer floats": (filled(np.longdouble(1) / 9, 9), LONGER),
    "out of range": (filled(2**64 - 1, dtype=np.uint64), r"below 2\^63, got 18446744073709551615"),
    "negative": (filled(-1), "must hold a policy of Greed.*legal actions, got -1"),
    "floats": (filled(0.0), r"actions or probabilities as policy, got float64 of shape \(242,"),
    "short": (lambda parts: parts.update(policy=parts["policy"][1:]), "for 242 states, got 241"),
    "other game": (edited(game="Chess"), "must name a game out of Greed, .*got 'Chess'"),
    "other keyword": (with_keyword(colour="red"), "keywords seat, opponent, max_.*'colour'"),
    "million": (with_keyword(max_score=10**6), "a game.*max_score must be lower, got .* TB"),
    "long number": (with_size("1" * 5000), "whole policy certificate: Exceeds the limit"),
    "large number": (with_keyword(max_score=10**4000), r"max_score must be lower, got 10\^4000"),
    "no number": (edited(value=float("nan")), "must claim finite numbers, got NaN"),
    "infinite": (replaced('"value": 0.', '"value": 1e999, "old": 0.'), "a finite number as value"),
    "an unknown claim": (edited(beats="all"), "must claim format, .* alone, got beats"),
    "two claims": (replaced('"seat"', '"seat": 1, "seat"'), "a name that is given twice"),
    "no claim": (replaced('"value"', '"worth"'), "must claim a finite number as value, got None"),
    "deep": (lambda parts: parts.update(claims="[" * 100_000), "maximum recursion|Stack overflow"),
    "rather deep": (with_size("[" * 900 + "]" * 900), "must make claims of at most 6 levels"),
    "inline table": (with_keyword(opponent=[[[1.0] + [0.0] * 5] * 242]), "by name, got an inline"),
    "a file": (with_keyword(opponent="model.zip"), r"known by name, got 'model\.zip'"),
    "no opponent": (with_keyword(opponent=[]), "opponents or policies must be one or 1, got 0"),
    "no json": (lambda parts: parts.update(claims="{"), "must be a whole policy certificate"),
    "no format": (replaced("certificate 1", "certificate 7"), "must be of the format"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_what_does_not_hold_is_named(whole, change, message):
    rewrite(whole, change)
    begun = time.monotonic()
    require_refusal(whole, message)
    assert time.monotonic() - begun < 5


def test_a_game_of_one_player_has_no_opponent(tmp_path):
    exactdice.score("random", Task(FourTwoOne(3, 3, 2))).save(path := tmp_path / "1.npz")
    for opponent in ("random", []):
        rewrite(path, with_keyword(opponent=opponent))
        require_refusal(path, "opponent must be left out, as there is one pl")


def refile(path, change, compression=zipfile.ZIP_DEFLATED):
    """Change the members of the file, bytes by name."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def with_header(text):
    def change(members):
        content, header = members["policy.npy"], text.encode().ljust(117) + b"\n"
        members["policy.npy"] = content[:8] + b"v\0" + header + content[128:]

    return lambda path: refile(path, change)


def promised(dtype, shape):
    return with_header(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}")


def other_version(members):
    members["claims.npy"] = members["claims.npy"].replace(b"\x01\x00", b"\x02\x00", 1)


def with_members(**members):
    return lambda before: before.update({f"{name}.npy": text for name, text in members.items()})


def encrypted(path):
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        content[content.index(signature) + place] |= 1
    path.write_bytes(content)


def pickled(path):
    np.savez(path, policy=np.array([print], dtype=object), claims="{}", sha256="")


MANY = dict.fromkeys(map(str, range(200)), b"")
FILES = [
    (promised("|u1", "(1000000000000,)"), r"shape \(1000000000000,\) and uint8, got 242 bytes"),
    (promised("|u1", "(-1, -242)"), r"must hold policy of shape \(-1, -242\)"),
    (promised("|O", "(242,)"), "got object of shape"),
    (promised("<U0", "(1000000000000,)"), "got <U0"),
    (promised("|u1", "(3L,)"), "must be a whole policy"),
    (with_header("(" * 110), "must be a whole policy certificate"),
    (lambda path: refile(path, with_members(more=b"")), "sha256 alone, got .*more"),
    (lambda path: refile(path, with_members(**MANY)), "alone, got hundreds of members"),
    (lambda path: refile(path, other_version), r"claims in version 1\.0 of the format npy"),
    (lambda path: refile(path, dict, zipfile.ZIP_LZMA), "as .npz files are, got type 14"),
    (encrypted, "is encrypted, password required"),
    (pickled, "must hold actions or probabilities.*got object"),
    (lambda path: path.write_text("# exactdice"), r"it is cut off, or no \.npz file at all"),
    (lambda path: rewrite(path, other_move, lambda **parts: "0" * 64), "must have the hash 0000"),
]


@pytest.mark.parametrize(("change", "message"), FILES)
def test_what_is_no_file_of_a_certificate_is_refused(whole, change, message):
    change(whole)
    require_refusal(whole, message)


def test_no_more_is_unpacked_than_a_member_promises(whole, monkeypatch):
    """Of a member that states a small size and unpacks to a large one."""
    refile(whole, lambda members: members.update({"claims.npy": bytes(10**8)}))
    content = bytearray(whole.read_bytes())
    place = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)  # of the claims
    assert content[place + 46 : place + 56] == b"claims.npy"
    content[place + 24 : place + 28] = struct.pack("<I", 1000)
    whole.write_bytes(content)
    unpacked, read = [], zipfile.ZipExtFile._update_crc

    def noted(self, data):
        unpacked.append(len(data))
        return read(self, data)

    monkeypatch.setattr(zipfile.ZipExtFile, "_update_crc", noted)
    require_refusal(whole, "must be a whole policy certificate: Bad CRC-32")
    assert max(unpacked) <= 10**5


def test_a_policy_may_be_too_large_to_write_or_to_read(whole, monkeypatch):
    score = exactdice.score("random", Task(Greed(10, 3)))
    monkeypatch.setattr(MODULE, "LARGEST", 1900)
    with pytest.raises(ValueError, match="must hold at most 237 numbers, got a policy of"):
        certificate(score)
    require_refusal(whole, r"must hold at most 237 numbers, got .*\(242,\)")
    refile(whole, with_members(policy=bytes(2000)))
    require_refusal(whole, "must be of a limited size, got 2,000 bytes of policy")
    monkeypatch.setattr(MODULE, "LARGEST", 100)
    require_refusal(whole, "must be a file of at most 100 bytes")


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_short_floats_score_no_more_than_the_optimum(whole, kind):
    """Rows such as [1, 9.9e-6] sum to one in short floats only: they have to be normalised."""
    solution = exactdice.solve(Task(Greed(10, 3)))
    states = np.arange(242)
    table = solution.policy.probabilities(states).astype(kind)
    others = solution.task.game.mask(states) & (table == 0)
    table[others.any(axis=1), others.argmax(axis=1)[others.any(axis=1)]] = kind(9.9e-6)
    with_all = table.astype(np.float64)
    assert (with_all.sum(axis=1) > 1).any()
    result = exactdice.score(with_all / with_all.sum(axis=1, keepdims=True), solution.task)
    rewrite(whole, edited(**{name: getattr(result, name) for name in CLAIMS}))
    rewrite(whole, lambda parts: parts.update(policy=table))
    found = verify(whole)
    assert found.value <= found.optimum
    assert found.normalized <= 1
    assert found.agent.probabilities(states).dtype == np.float64


@pytest.mark.parametrize("scale", [1e-13, 1e6])
def test_claims_are_compared_as_closely_as_the_payoffs_are_large(tmp_path, scale):
    task = Task(FourTwoOne(2, 3, 2, utility=lambda faces, casts: scale * sum(faces) / casts))
    exactdice.score("random", task).save(path := tmp_path / "certificate.npz")
    assert verify(path).policy == "random"
    rewrite(path, edited(value=verify(path).value * 1.001))
    require_refusal(path, "claims value")


def test_a_normalised_score_is_compared_if_random_play_is_optimal(tmp_path, monkeypatch):
    """In units of optimum - random any claim would hold; here these differ by rounding."""
    rounded = SimpleNamespace(value=1 - 1e-15, value_error=0.0)
    cache.clear_cache()
    monkeypatch.setattr(sys.modules[random_value.__module__], "value_of", lambda *_: rounded)
    exactdice.score("optimal", Task(LowestScore(3, players=1))).save(path := tmp_path / "1.npz")
    assert verify(path).normalized == 1
    rewrite(path, edited(normalized=0.5))
    require_refusal(path, r"claims normalized = 0.5, computed is 1\.0")
    cache.clear_cache()


VALUES = [
    None, True, -1, 0, 2, 1.5, 10**6, 10**30, 10**4000, 1e308, "", "1e20", "optimal", "random",
    "set", "sum<=" + "9" * 20, "goal:1,2", "\x1b[2Kholds", [], {}, [[1]], [["1/0"]], [0, 1],
    [["1e999999999"]], {"a": [1]}, ["optimal"], ["random", "random"], "9" * 5000, "model.zip",
]  # fmt: skip


def damage(path, rng):
    """Damage a certificate somehow: its length, a bit, a byte of a header or a claim."""
    content, how = bytearray(path.read_bytes()), rng.randrange(4)
    place = rng.randrange(len(content))

    def other_byte(members):
        name = rng.choice(list(members))
        members[name] = bytearray(members[name])
        members[name][rng.randrange(128)] = rng.randrange(256)

    def other_claim(parts):
        claims = json.loads(parts["claims"])
        changed = rng.choice([claims, claims["keywords"]])
        changed[rng.choice([*changed, "more"])] = rng.choice(VALUES)
        parts["claims"] = json.dumps(claims)

    if how < 2:
        content[place] ^= 1 << rng.randrange(8)
        path.write_bytes(content if how else content[:place])
    elif how == 2:
        refile(path, other_byte, zipfile.ZIP_STORED)
    else:
        rewrite(path, other_claim)


def test_of_hundreds_of_damaged_files_each_holds_or_is_refused_in_one_line(tmp_path):
    rng = random.Random(0)
    scores = [exactdice.score(name, task) for task in TASKS for name in ("random", "optimal")]
    whole = [certificate(score) for score in scores]
    path = tmp_path / "certificate.npz"
    refusals = []
    for number in range(200):
        path.write_bytes(whole[number % len(whole)])
        damage(path, rng)
        try:
            found = verify(path)
        except CertificateError as refusal:
            refusals.append(str(refusal))
        else:
            assert found.value <= found.optimum + 1e-12
    assert len(refusals) > 150
    assert all(text.isprintable() and len(text) < 1500 for text in refusals)


def test_only_opponents_that_others_know_are_certified():
    """Nor a score without masks: see ``tests/test_api.py``."""
    unnamed = Task(Greed(10, 3), 0, lambda observations, masks: masks.argmax(axis=1))
    with pytest.raises(ValueError, match="opponents must be known by name"):
        certificate(exactdice.score("random", unnamed))
