"""The public board: entries of strangers are verified by computation, and refused by name."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.baselines import certificate, make_task
from exactdice.baselines.scoring.certificate import digest_of
from exactdice.baselines.scoring.figure import nines
from exactdice.board import admission, entry_boards
from exactdice.board.admission import Figures, Verified, admit, answer_of
from exactdice.board.entry import Card, make_card, read_entry
from exactdice.board.pictures import chart_of_entries
from exactdice.core import InputError
from exactdice.core.positions import states_of
from exactdice.look.runs import colours_of
from small_entries import CARD, SIZES, TINY, content_of, make_entry, small_task

import exactdice

pytestmark = pytest.mark.usefixtures("tiny_track")


def test_an_entry_holds_and_others_stop_nothing(run, tmp_path):
    folder = tmp_path / "entries"
    make_entry(folder / "good", algorithm="PPO")
    make_entry(folder / "also", first=7, title="Another")
    (make_entry(folder / "bad", first=9, title="A third") / "Greed-1.npz").write_bytes(b"PK")
    (folder / "archive.zip").write_bytes(b"PK")
    (folder / "README.md").write_text("how to enter")
    out, summary = tmp_path / "out", tmp_path / "summary.md"
    code, said, _ = run("board", folder, "--output", out, "--summary", summary)
    assert code == 1
    for words in (
        "holds: good\n",
        "refused: bad: Greed-1.npz must be a whole policy certificate: it is cut off",
        "refused: archive.zip: must be a folder, and no link or archive\n",
        "nobody can prove with how many moves a policy was trained",
    ):
        assert words in said
    assert sorted(path.name for path in out.iterdir()) == ["tiny.csv", "tiny.html", "tiny.md"]
    rows = list(csv.DictReader(io.StringIO((out / "tiny.csv").read_text())))
    assert len(rows) == 8
    for row in rows:
        path = folder / row["entry"] / f"{row['game']}-{row['seed']}.npz"
        score = exactdice.verify(path)
        assert float(row["normalized"]) == score.normalized
        assert float(row["nines"]) == nines(score.normalized)
    text = summary.read_text()
    assert text.startswith("## Entries: 2 hold, 2 refused\n\n~~~text\nrefused: archive.zip: must")
    assert "| Dice by heart | PPO | 1 to 2 | 2 |" in text
    assert entry_boards.CLAIMS in text
    page = (out / "tiny.html").read_text()
    assert '<a href="https://example.org/code?a=1" rel="nofollow noopener">Another</a>' in page
    assert page.count('class="swatch"') == 6  # each entry over all games, and in two games
    assert page.count('background: #0072b2"></span>PPO<') == 3
    assert not re.search(r"<(img|iframe|object|embed)\b|<[^>]* (src|on\w+)=", page)  # loads nothing


def link(entry, name, target):
    (entry / name).unlink()
    (entry / name).symlink_to(target)


NO_FILE = "must be a file, and no link or folder"
#: The files that are changed in an entry (None: removed), or a function that does it; and what is
#: said of it.
FILES = {
    "no card": ({"card.json": None}, "must have a card.json, got none"),
    "other game": ({"Pig-0.npz": b""}, "games must be those of tiny, Greed, FourTwoOne, got Pig"),
    "pickle": ({"Greed-0.npy": b""}, r"alone, got Greed-0\.npy"),
    "terminal codes": ({"a\x1b[2K": b""}, r"got a\\x1b\[2K"),
    "two names of a seed": ({"Greed-01.npz": b""}, r"alone, got Greed-01\.npz"),
    "folder": (lambda entry: (entry / "Greed-2.npz").mkdir(), rf"Greed-2\.npz {NO_FILE}"),
    "link": (lambda entry: link(entry, "Greed-0.npz", "Greed-1.npz"), rf"Greed-0\.npz {NO_FILE}"),
    "linked card": (lambda entry: link(entry, "card.json", "/dev/zero"), rf"card\.json {NO_FILE}"),
    "large": ({"Greed-0.npz": bytes(9 * 2**20)}, r"Greed-0\.npz .* 8,388,608 bytes, got 9,437,184"),
    "many": ({f"Greed-{n}.npz": bytes(2**23) for n in range(8)}, "67,108,864 bytes in all, got 6"),
    "large card": ({"card.json": b" " * 10_001}, r"card\.json must have at most 10,000 bytes"),
    "deep card": ({"card.json": b"[" * 9000}, "must be the card"),
    "no text": ({"card.json": b"\xff\xfe"}, "must be the card"),
    "list": ({"card.json": b"[1]"}, "must be a mapping with"),
    "twice": ({"card.json": b'{"moves": 1, "moves": 2}'}, "got: a name that is given twice"),
}


@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_files_that_are_no_entry_are_refused(tmp_path, change, message):
    entry = make_entry(tmp_path / "entry")
    assert read_entry(entry).seeds == [0, 1]
    if callable(change):
        change(entry)
    else:
        for name, content in change.items():
            (entry / name).unlink() if content is None else (entry / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as refusal:
        read_entry(entry)
    assert str(refusal.value).isprintable()


def test_a_link_to_an_entry_is_refused_and_so_is_a_name_with_signs(tmp_path):
    (tmp_path / "link").symlink_to(make_entry(tmp_path / "<b>"))
    for name, message in (("link", "be a folder, and no link"), ("<b>", "be named with 1 to 80 l")):
        with pytest.raises(InputError, match=f"must {message}"):
            read_entry(tmp_path / name)


WORDS = "1 to 80 letters, .*, all ASCII, .* and no address"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        *(
            ("title", text, f"title must be {WORDS}")
            for text in ("", "=1+1", "a|b", "See WWW.example.org", "a\nb", "\u0420\u0420\u041e")
        ),
        *(
            ("algorithm", text, f"algorithm must be {WORDS}")
            for text in ("\u0420\u0420\u041e", "<b>PPO</b>", "@everybody", "x" * 81, "a\u202eb")
        ),
        ("hardware", "x|y", f"hardware must be {WORDS}, got 'x|y'"),
        ("link", "javascript:alert(1)", "link must be an address that begins with https://"),
        *(
            ("link", f"https://{place}", "link must be an address")
            for place in ("me@example.org/", 'example.org/">', "example.org\n")
        ),
        ("track", "exactdice-1g", "track must be one of .*'tiny', got 'exactdice-1g'"),
        ("track", "exactdice-selfplay-1m", "track must be one of"),  # its opponent is not fixed
        ("version", 2, "version must be 1 on the track tiny, got 2"),
        ("moves", 4001, "moves must be at most 4,000 on the track tiny, got 4,001"),
        ("moves", 0, "moves must be at least 1, got 0"),
        ("moves", True, "moves must be a whole number, got True"),
        ("moves", "many", "moves must be a whole number, got 'many'"),
        ("seconds", float("nan"), "seconds must be a number, got nan"),
        ("seconds", -1, "seconds must be at least 0, got -1"),
        ("exactdice", "the newest", "exactdice must be a version such as"),
        ("score", 1.0, "fields of a card must be among title, .*, got 'score'"),
        *((field, None, f"{field} must be given, got none") for field in Card.model_fields),
    ],
)
def test_a_card_names_the_field_the_requirement_and_the_value(field, value, message):
    assert make_card(CARD).title == "Dice by heart"
    card = {name: text for name, text in CARD.items() if name != field}
    with pytest.raises(InputError, match=message):
        make_card(card if value is None else {**card, field: value})


def rewritten(content, without=None, **changes):
    """Change the claims of a certificate, with a hash that fits."""
    with np.load(io.BytesIO(content)) as file:
        policy, claims = file["policy"], json.loads(str(file["claims"]))
    keywords = claims["keywords"] | changes.pop("keywords", {})
    keywords.pop(without, None)
    text = json.dumps({**claims, **changes, "keywords": keywords})
    file = io.BytesIO()
    np.savez_compressed(file, policy=policy, claims=text, sha256=digest_of(policy, text))
    return file.getvalue()


#: How a certificate of Greed is changed, and what is said of it, by name; see ``test_certificate``.
CERTIFICATES = {
    "better": (lambda old: rewritten(old, value=0.9), "claims value = 0.9, computed is"),
    "empty": (lambda _: b"", "must be a whole policy certificate"),
    "other game": (lambda _: content_of("FourTwoOne", 0), "of Greed, got one of FourTwoOne"),
    "easier": (lambda _: content_of("Greed", 0, max_score=4, sides=3), "_score 5, got max_score 4"),
    "weaker opponent": (
        lambda _: content_of("Greed", 0, **SIZES["Greed"], opponent="random"),
        "must be of Greed with its default keywords, opponent .'optimal'., got opponent .'random'.",
    ),
    "other seat": (lambda old: rewritten(old, keywords={"seat": 1}), "seat 0, got seat 1"),
    "no number": (lambda old: rewritten(old, keywords={"seat": False}), "got seat False"),
    "unknown keyword": (lambda old: rewritten(old, keywords={"x": 1}), "x none, got x 1"),
    "huge": (lambda old: rewritten(old, keywords={"max_score": 10**12}), "5, got max_score 10{12}"),
}


@pytest.mark.parametrize(("change", "message"), CERTIFICATES.values(), ids=CERTIFICATES)
def test_certificates_that_do_not_hold_are_refused(tmp_path, change, message):
    path = tmp_path / "Greed-0.npz"
    content = content_of("Greed", 0)
    path.write_bytes(content)
    assert isinstance(answer_of(path, "Greed"), Figures)
    path.write_bytes(change(content))
    answer = answer_of(path, "Greed")
    assert isinstance(answer, str)
    assert str(path) not in answer
    assert re.search(message, answer)


def test_a_copy_is_refused_also_with_a_changed_card_order_of_seeds_and_a_few_other_moves(tmp_path):
    make_entry(tmp_path / "b-original")
    copy = make_entry(tmp_path / "a-copy", title="My own", algorithm="Mine")
    for seed in range(2):
        (copy / f"Greed-{seed}.npz").write_bytes(content_of("Greed", 1 - seed))
    (copy / "FourTwoOne-1.npz").write_bytes(content_of("FourTwoOne", 50))
    accepted = tmp_path.parent / f"{tmp_path.name}-main"
    shutil.copytree(tmp_path / "b-original", accepted / "b-original")
    found = admit(tmp_path, 1, accepted)
    assert [held.name for held in found.verified] == ["b-original"]
    assert found.refused == {
        "a-copy": "must be an entry of its own, got the policies of b-original in 3 of 4 "
        "certificates: at most 0.1% of the decisions are others, or 1% of all states if both are "
        "optimal"
    }
    assert list(admit(tmp_path, 1).refused) == ["b-original"]  # by name, if nothing else is known


def rarest_changed(path):
    """Take another legal action where the policy of a certificate decides most rarely, or never."""
    score = exactdice.verify(path)
    game, states = score.task.game, states_of(score.task.game, score.task.seat)
    met, choices = score.occupancy[states], game.mask(states)
    open_to = choices.sum(axis=1) > 1
    rare = np.argmin(np.where(open_to & ((met > 0) | (score.regret < 1e-9)), met, np.inf))
    assert met[rare] / met.sum() < 0.001
    actions = score.agent.likeliest(np.arange(game.num_states))
    legal = np.flatnonzero(choices[rare])
    actions[states[rare]] = legal[legal != actions[states[rare]]][0]
    return certificate(exactdice.score(actions, score.task))


@pytest.mark.parametrize("policy", [None, "optimal"])
def test_a_copy_with_changes_in_rare_positions_is_refused(tmp_path, policy, monkeypatch):
    monkeypatch.setitem(SIZES, "Greed", {"max_score": 20})
    monkeypatch.setitem(SIZES, "FourTwoOne", {"faces": 6})
    original = make_entry(tmp_path / "a")
    copy = make_entry(tmp_path / "b", title="My own")
    for path in original.glob("*.npz"):
        if policy:
            game = path.name.partition("-")[0]
            path.write_bytes(certificate(exactdice.score(policy, small_task(game))))
        (copy / path.name).write_bytes(rarest_changed(path))
    found = admit(tmp_path, 1)
    assert list(found.refused) == ["b"]
    assert "the policies of a in 4 of 4 certificates" in found.refused["b"]


def test_a_copy_of_half_an_entry_is_refused_and_so_is_one_of_two_entries(tmp_path):
    make_entry(tmp_path / "a", title="A")
    make_entry(tmp_path / "b", first=7, title="B")
    for name, originals in {"half": "aa", "both": "ab", "quarter": "a"}.items():
        entry = make_entry(tmp_path / name, first=20 + len(name), title=name)
        for game, original in zip(TINY.games, originals, strict=False):
            shutil.copy(tmp_path / original / f"{game}-0.npz", entry / f"{game}-0.npz")
    refused = admit(tmp_path, 1).refused
    assert list(refused) == ["both", "half"]
    assert "the policies of a, b in 2 of 4 certificates" in refused["both"]


@pytest.mark.parametrize("seed", [1, 2])
def test_an_entry_of_the_board_must_be_unchanged(tmp_path, seed):
    entry, accepted = make_entry(tmp_path / "new" / "one"), tmp_path / "accepted"
    shutil.copytree(entry, accepted / "one")
    assert not admit(tmp_path / "new", 1, accepted).refused
    for game in ("Greed", "FourTwoOne"):
        (entry / f"{game}-{seed}.npz").write_bytes(content_of(game, 60))  # replaced, or added
    (reason,) = admit(tmp_path / "new", 1, accepted).refused.values()
    assert reason.startswith("must stay as it is on the board")


def test_a_title_and_a_seed_are_not_entered_twice_but_optimal_policies_may_be_alike(tmp_path):
    title = "DICE,  by-heart (.)"
    entry, copy = make_entry(tmp_path / "one"), make_entry(tmp_path / "two", first=7, title=title)
    refused = {"two": f"title must be its own, got that of one: {title}"}
    assert admit(tmp_path, 1).refused == refused
    shutil.rmtree(copy)
    twice = "seeds must be different runs, got the same policies for 0 and 1 in 2 of 2 games"
    for optimal, refused in ((False, {"one": twice}), (True, {})):
        for game in TINY.games:
            best = certificate(exactdice.score("optimal", small_task(game)))
            for seed in range(2):
                content = best if optimal else content_of(game, 0)
                (entry / f"{game}-{seed}.npz").write_bytes(content)
        assert admit(tmp_path, 1).refused == refused


def test_a_summary_fits_into_a_comment_and_no_reason_ends_its_block():
    refused = {f"entry-{number}": "~~~" + "x" * 590 for number in range(300)}
    text = entry_boards.summary(admission.Admission([], refused), [])
    assert len(text) <= entry_boards.LONGEST
    assert re.findall("^~~~.*", text, re.MULTILINE) == ["~~~text", "~~~"]
    assert re.search("^refused: .* more$", text, re.MULTILINE)


def verified(name, algorithm, score):
    """Make an entry that holds, with one score everywhere."""
    card = make_card({**CARD, "title": name, "algorithm": algorithm})
    cells = {(game, seed): None for game in TINY.games for seed in range(2)}
    numbers = (score, 1.0, 0.0, 1 - score, score, nines(score), np.array([0]))
    return Verified(Path(name), card, cells, {cell: Figures(cell[0], *numbers) for cell in cells})


def test_the_board_is_ordered_by_the_mean_of_the_nines():
    colours = {known.title: index for index, known in enumerate(ALGORITHMS.values())}
    colours |= {"Foreign": len(colours)}
    held = [verified("Worse", "PPO", 0.9), verified("Better", "Foreign", 0.99)]
    (board,) = entry_boards.boards_of(admission.Admission(held, {}))
    assert board.totals.rows[0] == [
        "Better", "Foreign", "1", "2", "2.000", "2.000 to 2.000", "2.000 to 2.000", "0.9900",
        "0.9900 to 0.9900", "4,000", "2", "A laptop",
    ]  # fmt: skip
    assert [row[0] for row in board.totals.rows] == ["Better", "Worse"]
    assert colours_of({"PPO", "Foreign"}) == colours
    assert chart_of_entries(board, colours).panels[0].colours == [len(ALGORITHMS), 0]
    assert board.games.rows[1][:2] == ["Greed", "Worse"]
    assert board.games.rows[0][-2:] == ["10.0", "wins"]
    for table in (board.totals, board.games):
        assert {len(row) for row in table.rows} == {len(table.header)}


def test_a_certificate_of_an_earlier_version_lacks_later_keywords(tmp_path, monkeypatch):
    monkeypatch.setattr(admission, "make_task", make_task)
    path = tmp_path / "Greed-0.npz"
    content = certificate(exactdice.score("if_else", make_task("Greed")))
    path.write_bytes(rewritten(content, without="tie"))
    assert isinstance(answer_of(path, "Greed"), Figures)
