"""Exact scores at the marks and certificates, by which a foreign program enters a track.

The folder of an entrant gets two files for each cell: ``Greed-0.npz``, the certificate, which
``exactdice verify`` computes anew and ``exactdice submit`` takes; and ``Greed-0.json``, the scores
of the run. A cell with scores is finished and is not played again.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from exactdice.board.tracks import OPEN

import exactdice


class Cell:
    """One run of an entrant on a track: a game and a seed.

    Args:
        options: the options of ``parser``.
        game: name of the game, which is played with its default keywords.
        seed: seed of the training.
        entrant: name of the program.
        masked: whether the program keeps to the legal actions. If not, a score of the agent as it
            plays stands beside the score of the agent held to the legal actions.
    """

    def __init__(
        self, options: argparse.Namespace, game: str, seed: int, entrant: str, *, masked: bool
    ) -> None:
        torch.set_num_threads(1)
        self.track = OPEN[options.track]
        self.game, self.seed, self.entrant, self.masked = game, seed, entrant, masked
        self.env_id = f"exactdice:exactdice/{game}-OneHot-v0"
        self.env = gym.make(self.env_id)
        self.path: Path = options.folder.resolve() / f"{game}-{seed}.json"
        self.moves = 0
        self.scored: list[int] = []  # moves before each score
        self.curve: list[float] = []
        self.unmasked: list[float] = []
        self.started = time.perf_counter()

    @property
    def is_finished(self) -> bool:
        """Whether an earlier call has played this cell."""
        return self.path.exists()

    def play(self, moves: int, agent: Any) -> None:
        """Count the moves that all lanes are about to make; score the agent if they pass a mark.

        Args:
            moves: moves of all lanes.
            agent: whatever ``exactdice.score`` takes, as it is after its last update.
        """
        if self.track.is_due(self.moves, moves):
            self._score(agent)
        self.moves += moves
        assert self.moves <= self.track.moves, (
            f"{self.entrant} makes more moves than {self.track.name}"
        )

    def finish(self, agent: Any, hyperparameters: Any) -> None:
        """Score the last agent, and write the files of the cell."""
        result = self._score(agent)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        result.save(self.path.with_suffix(".npz"))
        found = {
            "track": self.track.title,
            **{name: getattr(self, name) for name in ("game", "entrant", "seed", "moves")},
            "seconds": round(time.perf_counter() - self.started, 1),
            "marks": self.track.marks,
            "normalized": self.track.at_marks(self.scored, self.curve),
            "as_it_plays": self.track.at_marks(self.scored, self.unmasked),
            "hyperparameters": hyperparameters,
        }
        self.path.write_text(json.dumps(found, indent=1), encoding="utf-8")
        last = [found[name][-1] for name in ("normalized", "as_it_plays")]
        print(f"{self.path.stem} normalised {last[0]:.4f}, as it plays {last[1]:.4f}", flush=True)

    def _score(self, agent: Any) -> exactdice.Score:
        name = f"{self.entrant}, seed {self.seed}"
        result = exactdice.score(agent, self.env, name=name)
        self.scored.append(self.moves)
        self.curve.append(result.normalized)
        self.unmasked.append(
            result.normalized
            if self.masked
            else exactdice.exact_evaluation(agent, self.env, masked=False)["normalized"]
        )
        return result


def parser(description: str) -> argparse.ArgumentParser:
    """Return the options that all entrants have."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--track", choices=list(OPEN), default="exactdice-10k")
    found.add_argument("--folder", type=Path, required=True, help="of one entrant and one track")
    found.add_argument("--games", nargs="+", help="default: those of the track")
    found.add_argument("--seeds", nargs="+", type=int, help="default: those of the track")
    return found


def cells(options: argparse.Namespace, entrant: str, *, masked: bool) -> Iterator[Cell]:
    """Yield the cells that are not finished."""
    track = OPEN[options.track]
    games: Sequence[str] = options.games or track.games
    seeds: Sequence[int] = range(track.seeds) if options.seeds is None else options.seeds
    for seed in seeds:
        for game in games:
            cell = Cell(options, game, seed, entrant, masked=masked)
            if not cell.is_finished:
                yield cell
