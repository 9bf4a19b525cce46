"""The players that a person can play against or watch, by names that people understand.

Levels are policies of graded strength (``baselines/policies/names.py``): each wins a fixed share
of what perfect play wins more than random play, so that the steps between them are equally large.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..baselines import Policy, Reading, Task, convert, is_policy_name, score
from ..baselines.policies.names import EQUILIBRIUM, registered_policies
from ..core import FloatArray, Game, InputError, SizeError
from ..core.sizes import check_array
from ..core.words import meant
from .coach import unit_of
from .session import Session


@dataclass(frozen=True)
class Player:
    """A player to choose."""

    name: str  # name of its policy
    title: str  # what people call it
    about: str  # how it plays, in a sentence


PERFECT = Player("optimal", "Perfect", "Makes the best move always, computed exactly.")
LEVELS = (
    Player("strength:0.25", "Beginner", "A quarter of the way from random to perfect play."),
    Player("strength:0.5", "Club", "Half of the way from random to perfect play."),
    Player("strength:0.75", "Strong", "Three quarters of the way from random to perfect play."),
    PERFECT,
)
PERSON = Player("person", "Another person", "You play by turns at this screen.")
RANDOM = Player("random", "Random", "Draws every move by chance.")
BY_WORD = {level.title.casefold(): level.name for level in (*LEVELS, RANDOM)}


def policy_of(against: str) -> str:
    """Replace levels by the names of their policies: "strength:0.5" for "club", in any case."""
    return ",".join(
        word if Path(word).exists() else BY_WORD.get(word.strip().casefold(), word)
        for word in against.split(",")
    )


def check_player(game: type[Game], words: str, keyword: str) -> None:
    """Refuse words in ``keyword`` that name no player, with a list of the players."""
    known = [*BY_WORD, *(name for name in registered_policies(game.name) if "<" not in name)]
    for word in words.split(","):
        is_known = is_policy_name(game, word) or Path(word).exists()
        if not is_known and re.fullmatch(r"[\w -]*", word):  # no path
            each = f"{', '.join(known)}, or a run folder, a certificate or a saved model"
            raise InputError(f"{keyword} must be {each}, got {word!r}{meant(word, known)}")


def player(game: type[Game] | Game, name: str) -> Player:
    """Return the player of a policy; one that has no title is called by the policy's name."""
    wanted = "optimal" if name in EQUILIBRIUM else name
    for one in (*LEVELS, RANDOM):
        if one.name == wanted:
            return replace(one, name=name)
    known = registered_policies(game.name).get(name)
    return Player(name, known.title or name, known.about) if known else Player(name, name, "")


def levels_of(game: Game) -> tuple[Player, ...]:
    """List the levels of a game; those below the perfect one need a table of its policies."""
    try:
        check_array("a level", game, game.num_states, game.num_actions)
    except SizeError:
        return (PERFECT,)
    return LEVELS


def players(game: Game, default: str) -> list[Player]:
    """List the players of a game: its levels, those of its sources, random play, and a default."""
    perfect = default if default in EQUILIBRIUM else "optimal"
    levels = [perfect if level == PERFECT else level.name for level in levels_of(game)]
    own = [name for name in registered_policies(game.name) if "<" not in name]
    return [player(game, name) for name in dict.fromkeys([*levels, *own, "random", default])]


def rivals(task: Task) -> list[Player]:
    """List the other players of a task, each once."""
    return [player(task.game, name) for name in dict.fromkeys(task.labels.values())]


def strength(task: Task) -> str:
    """Say how strong the first other player is, exactly; empty if there is none."""
    if not task.labels:
        return ""
    (seat, name), *_ = task.labels.items()
    result = score(task.opponents[0], Task(task.game, seat))
    unit, title = unit_of(task.game), player(task.game, name).title
    does = "wins" if unit.ends else "gets"
    value, best, random = (
        unit.shown(unit.rounded(number)) for number in (result.value, result.optimum, result.random)
    )
    where = f", as player {seat + 1}," if task.game.num_players > 2 else ""
    return (
        f'Against perfect players "{title}"{where} {does} {value}; perfect play {does} {best}, '
        f'random play {random}. So "{title}" is {100 * result.normalized:.1f} % of the way.'
    )


@dataclass(frozen=True)
class Agent:
    """A policy that plays in the person's place."""

    name: str  # the name of the policy, or its path
    title: str  # its name for people
    policy: Policy  # the policy that moves; a network takes its likeliest action, as in a score
    # The policy whose probabilities are shown; for a network, its law before the likeliest action
    # is taken.
    laws: Policy

    def law(self, state: int) -> FloatArray:
        """Return the probability of each action in a state, shape (action,)."""
        return self.laws.probabilities(np.array([state]))[0]

    def action(self, session: Session) -> int:
        """Return the agent's move in a session; the same game gives the same move."""
        rng = np.random.default_rng([session.seed, len(session.actions)])
        return int(self.policy.sample(np.array([session.now.state]), rng)[0])


def agent_of(word: str, task: Task) -> Agent:
    """Return the agent of a name, a level, a run folder, a certificate or a saved model."""
    name, game, seat = policy_of(word), task.game, task.seat
    check_player(type(game), name, "watch")
    policy = convert(name, game, seat)
    try:
        laws = convert(name, game, seat, Reading(deterministic=False))
    except InputError:  # a network of action values has no law
        laws = policy
    title = Path(name).name if Path(name).exists() else player(game, name).title
    return Agent(name, title, policy, laws)
