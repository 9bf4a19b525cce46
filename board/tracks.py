"""The tracks of the benchmark: so many moves of the agent in all, scored exactly at fixed marks.

A track counts every move of the agent, exploration included. A run makes whole rollouts and never
more moves than its track allows, so that it may make a few moves less. The score at a mark is that
of the policy after the last complete update before the mark: no move beyond the mark has been made
for it. The score of a run is that of its last policy, never of its best.

In self-play moves of both seats count. How many moves a rollout takes is known only when it is
played: a rollout that passes the end of the track is thrown away.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core import FloatArray, InputError

#: The marks of every track, in per cent of its moves.
PERCENTS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Track:
    """A budget of moves, and the games that are learned with it."""

    name: str  # on the command line
    version: int  # of its rules; results of two versions are not compared
    moves: int  # at most, of the agent
    games: tuple[str, ...]
    seeds: int = 5  # of an entry
    #: Keywords of the games that are not played with their defaults, by name.
    keywords: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: The places of the games that are not this package's, such as gym:FrozenLake-v1, by name.
    places: Mapping[str, str] = field(default_factory=dict)
    #: Whether the agent meets nobody but itself. Then moves of both seats count, and the score of a
    #: run is its exploitability.
    self_play: bool = False
    #: The first version whose runs are those of this version, which has other figures of them only;
    #: None for this version.
    since: int | None = None

    @property
    def title(self) -> str:
        """Its name and version, as a paper cites it."""
        return f"{self.name}, v{self.version}"

    @property
    def versions(self) -> range:
        """The versions whose runs count."""
        return range(self.since or self.version, self.version + 1)

    @property
    def marks(self) -> tuple[int, ...]:
        """The moves at which a run is scored."""
        return tuple(self.moves * percent // 100 for percent in PERCENTS)

    def place(self, game: str) -> str:
        """Return the place of one of its games."""
        return self.places.get(game, game)

    def whole(self, rollout: int) -> int:
        """Return the largest number of moves on this track that is a multiple of ``rollout``.

        A rollout is the moves of all games together between two points at which training can end.
        """
        if rollout > self.moves:
            raise InputError(
                "moves between two updates (n_envs times n_steps or train_freq) must be at most "
                f"{self.moves:,} on the track {self.name}, got {rollout:,}"
            )
        return self.moves // rollout * rollout

    def is_due(self, moves: int, rollout: int) -> bool:
        """Return whether the next rollout would pass a mark, so that the policy is scored now."""
        return any(moves <= mark < moves + rollout for mark in self.marks)

    def at_marks(self, moves: Sequence[float] | FloatArray, scores: FloatArray) -> list[float]:
        """Return the scores at the marks: at each the last score after at most so many moves.

        The moves before each score are in increasing order.
        """
        last = [sum(done <= mark for done in moves) - 1 for mark in self.marks]
        if last[0] < 0:
            raise InputError(f"moves must begin before {self.marks[0]:,}, got {list(moves)[:1]}")
        return [float(scores[index]) for index in last]


#: The games of the first tracks.
SIX = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne", "LowestScoreMatch", "FourTwoOneMatch")
#: Environments of Gymnasium and MiniGrid: their places, by the names of their games. CliffWalking
#: has no limit of moves, and gets that of Taxi.
_WORLDS = {
    re.sub(r"\W", "_", place.removeprefix("gym:")): place
    for place in (
        "gym:FrozenLake-v1",
        "gym:FrozenLake8x8-v1",
        "gym:CliffWalking-v1",
        "gym:Taxi-v4",
        "explore:MiniGrid-Empty-8x8-v0",
        "explore:MiniGrid-LavaGapS5-v0",
        "explore:MiniGrid-SimpleCrossingS9N1-v0",
        "explore:MiniGrid-DoorKey-5x5-v0",
    )
}
_ALL = (
    Track("exactdice-10k", 2, 10_000, SIX, since=1),
    Track("exactdice-100k", 2, 100_000, SIX, since=1),
    Track("exactdice-1m", 2, 1_000_000, SIX, since=1),
    Track(
        "exactdice-selfplay-1m",
        2,
        1_000_000,
        ("Greed", "ShutTheBox", "FourTwoOne", "LowestScoreMatch", "FourTwoOneMatch"),
        keywords={"FourTwoOne": {"utility": "set"}},
        self_play=True,
        since=1,
    ),
    Track(
        "exactdice-grid",
        2,
        100_000,
        tuple(_WORLDS),
        keywords={"CliffWalking_v1": {"horizon": 200}},
        places=_WORLDS,
    ),
)
#: The tracks by name.
TRACKS: Mapping[str, Track] = {track.name: track for track in _ALL}
#: The tracks that take entries. A certificate has a policy of one seat of a game of this package,
#: and the exploitability of a track of self-play needs a policy of both.
OPEN = {name: track for name, track in TRACKS.items() if not track.self_play and not track.places}
