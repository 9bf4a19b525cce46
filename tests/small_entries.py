"""Entries of a track of two small games, written by hand."""

import json

import numpy as np
from exactdice.baselines import certificate, make_task
from exactdice.board.tracks import Track

import exactdice

TINY = Track("tiny", 1, 4000, ("Greed", "FourTwoOne"), seeds=2)
SIZES = {"Greed": {"max_score": 5, "sides": 3}, "FourTwoOne": {"faces": 3}}
CARD = {
    "title": "Dice by heart", "algorithm": "Random tables", "track": "tiny", "version": 1,
    "moves": 4000, "seconds": 1.5, "hardware": "A laptop", "link": "https://example.org/code?a=1",
    "exactdice": "0.1.0",
}  # fmt: skip


def small_task(game):
    return make_task(game, **SIZES.get(game, {}))


def content_of(game, seed, **sizes):
    """Return the certificate of a policy that plays at random, but always alike."""
    task = make_task(game, **(sizes or SIZES[game]))
    mask = task.game.mask(np.arange(task.game.num_states))
    table = np.where(mask, np.random.default_rng(seed).random(mask.shape), -1.0).argmax(axis=1)
    return certificate(exactdice.score(table, task, name=f"random {seed}"))


def make_entry(folder, first=0, **card):
    """Write an entry by hand."""
    folder.mkdir(parents=True)
    (folder / "card.json").write_text(json.dumps({**CARD, **card}))
    for game in TINY.games:
        for seed in range(2):
            (folder / f"{game}-{seed}.npz").write_bytes(content_of(game, first + seed))
    return folder
