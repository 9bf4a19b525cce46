"""Games of OpenSpiel: positions are found by search, and become a game that is solved exactly.

A state is the player to move and the text of OpenSpiel's state, ``str(state)``. What is seen and
what may follow must be the same for all histories that lead to it. This is compared whenever a
state is met again, and in some random games. If it differs, the observation is added to the state,
then the number of moves so far; and if it still differs, each history is a state.

OpenSpiel ends all games within ``max_game_length`` moves, which texts need not show. It can change
nothing if no game by the moves that were found is longer. Else moves are counted, or the user
says within which limit the game is played.
"""

import random
import re
from collections.abc import Callable, Hashable, Iterator
from difflib import get_close_matches
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import gymnasium as gym
import numpy as np
from typing_extensions import override

from ...baselines import Reading, SimpleGame, Task
from ...baselines.law.explicit import View, same_again
from ...baselines.law.graphs import levels_of
from ...baselines.law.simple import SimplePresentation
from ...core import FloatArray, Game, InputError, IntArray, SizeError, presents
from ...core.block_moves import sums
from ...core.checks import require_count
from ...core.errors import needing
from ...core.progress import tell
from ...core.sizes import check_memory
from ...core.words import one_line, plural

#: A state: the player to move, and what tells states apart.
Key: TypeAlias = tuple[Hashable, ...]
#: What tells states apart, from the coarsest on, with the largest number of states.
TEXT, SEEN, HISTORY = "text", "text and observation", "history"
MOVES = "text, observation and number of moves"
MOST = {MOVES: 50_000, HISTORY: 500_000}
#: Bytes of a state while it is found, and largest number of outcomes of chance in a row.
STATE, OUTCOMES = 6000, 100_000
#: Random games that are compared with the law, and positions of them at most.
GAMES, POSITIONS = 100, 5000
#: Payoffs that differ by no more are equal.
CLOSE = 1e-9


def from_spiel(
    game: Any,
    horizon: int | None = None,
    *,
    endless: bool = False,
    histories: bool = False,
    perfect_information: bool = False,
) -> Task:
    """Find the law of a game of OpenSpiel; every function here takes it.

    ::

        task = exactdice.from_spiel("connect_four(rows=4,columns=4)")
        print(exactdice.solve(task).value, exactdice.exploitability(policy, task))

    Args:
        game: name and parameters, as OpenSpiel reads them, or a ``pyspiel.Game``. It has one
            player, or two whose payoffs add up to 0, who move in turn.
        horizon: number of moves, of both players together, after which the game is over and pays
            no more; by default OpenSpiel's own limit.
        endless: leave out OpenSpiel's own limit of moves. A game of two players must end then with
            positive probability, whatever they do.
        histories: make a state of each history, for policies that depend on it.
        perfect_information: declare that players see the state, where OpenSpiel says that they may
            not. The optimum is then that of players who see all of it.

    Returns:
        The task of the first player against an optimal one. Functions and networks get
        ``observation_tensor`` of the player to move. Policies and agents of OpenSpiel are policies.

    Raises:
        InputError: if OpenSpiel is missing, or if the game is of another kind.
        SizeError: if there are too many states.
    """
    return Task(SpielGame(_text_of(game), horizon, endless, histories, perfect_information))


class SpielGame(SimpleGame):
    """A game of OpenSpiel (see ``from_spiel``).

    Attributes:
        paths: one or two histories that lead to each state, actions and outcomes of chance.
    """

    name = "Spiel"

    def __init__(
        self,
        spiel: str,  # name and parameters
        horizon: int | None = None,
        endless: bool = False,
        histories: bool = False,
        perfect_information: bool = False,
    ) -> None:
        self.spiel, self.horizon, self.endless = spiel, horizon, endless
        self.histories, self.perfect_information = histories, perfect_information
        rules = _loaded(spiel)
        _require(rules, perfect_information)
        _require_limit(rules, horizon, endless, histories)
        kinds = [HISTORY] if histories else [TEXT, SEEN, MOVES, HISTORY]
        self._found = found = _found(rules, kinds, horizon, endless)
        super().__init__()
        self.view, self.kind = found.view([*self.states]), found.kind
        self.paths = [found.paths[state] for state in self.states]
        del self._found  # which holds OpenSpiel's states

    @override
    def start(self) -> list[tuple[float, Key]]:
        return self._found.start

    @override
    def actions(self, state: Key) -> list[int]:
        return [*self._found.rows[state]]

    @override
    def outcomes(self, state: Key, action: int) -> list[tuple[float, float, Key | None]]:
        found = self._found
        ways = found.rows[state][action]  # after the horizon nothing was looked for
        return [(p, paid, s if s in found.states else None) for p, paid, s, _ in ways]

    @override
    def player(self, state: Key) -> Any:
        return state[0]


@presents(SpielGame)
class SpielPresentation(SimplePresentation):
    """The words of a game of OpenSpiel."""

    @property
    @override
    def title(self) -> str:
        return str(vars(self.game)["spiel"]).removesuffix("()")

    @property
    @override
    def words(self) -> str:
        return self.heading

    @property
    @override
    def heading(self) -> str:
        game: Any = self.game
        limit = f" within {game.horizon:,} moves" if game.horizon else ""
        kind = "" if game.kind == TEXT else f", told apart by {game.kind}"
        return f"{self.title}{limit}, {game.rows:,} {plural(game.rows, 'state')}{kind}"

    @override
    def _state(self, observation: IntArray) -> str:
        return " / ".join(str(super()._state(observation)[1]).split("\n")).strip(" /")


class _ConflictError(Exception):
    """Two histories of a state go on differently."""


class _ManyError(Exception):
    """There are too many states if they are told apart by more than texts."""


class _Way(NamedTuple):
    """An outcome of a move."""

    chance: float
    reward: float  # of the player who moves
    after: Key | None  # None if the game is over
    state: Any  # OpenSpiel's state then


_Rows: TypeAlias = dict[int, list[_Way]]


class _Search:
    """The states that were found, in the order in which they are met."""

    def __init__(
        self,
        rules: Any,
        kind: str,  # what tells states apart
        horizon: int | None = None,
        blind: float = np.inf,  # moves from which on OpenSpiel's limit, which is left out, may show
    ) -> None:
        self.rules, self.kind, self.blind = rules, kind, blind
        self.horizon = np.inf if horizon is None else horizon
        kinds = rules.get_type()
        self.shape, self.tensor = (), ""
        for name in ("observation", "information_state"):
            if getattr(kinds, f"provides_{name}_tensor") and not self.tensor:
                self.tensor = f"{name}_tensor"
                self.shape = tuple(getattr(rules, f"{name}_tensor_shape")())
        self.states: dict[Key, Any] = {}
        self.depths: dict[Key, int] = {}
        self.rows: dict[Key, _Rows] = {}
        self.seen: dict[Key, Any] = {}
        self.paths: dict[Key, list[list[int]]] = {}

    # ------------------------------------------------------------------ search

    def run(self) -> "_Search":
        """Find all states."""
        self._begin()
        each, most = STATE + 4 * int(np.prod(self.shape)), MOST.get(self.kind)
        waiting = [*self.states]
        for number, key in enumerate(waiting):  # which grow as the search goes on
            if number % 256 == 0:
                check_memory("states", len(waiting), each)
                tell(number, len(waiting), "states")
            if most is not None and len(waiting) > most:
                raise _ManyError
            depth = self.depths[key] + 1
            for way in chain(*self._rows_of(key).values()):
                if way.after is None or depth >= self.horizon:
                    continue
                if self._meet(way.after, way.state, depth):
                    waiting.append(way.after)
            self.rows[key] = {
                action: [way._replace(state=None) for way in ways]
                for action, ways in self.rows[key].items()
            }
        for state, depth in self._walks():  # compare random games with the law
            if (key := self._key(state, depth)) not in self.states:
                raise _ConflictError(f"history {state.history()} is of no state that was found")
            self._compare(key, state, depth)
        return self

    def _begin(self) -> None:
        self.start = []
        for chance, state in self._settled(self.rules.new_initial_state()):
            if state.is_terminal() or state.current_player() != 0:
                raise InputError(
                    f"game must begin with a move of player 0, got {self.rules} that begins with "
                    f"{'an end' if state.is_terminal() else 'player 1'}"
                )
            self.start.append((chance, self._key(state, 0)))
            self._meet(self.start[-1][1], state, 0)

    def _settled(self, state: Any) -> list[tuple[float, Any]]:
        """List what chance makes of a state: with the chance of each, until a player moves."""
        found, waiting = [], [(1.0, state)]
        while waiting:
            chance, state = waiting.pop()
            if not state.is_chance_node():
                found.append((chance, state))
                continue
            if len(found) > OUTCOMES:
                raise SizeError(
                    f"game must have at most {OUTCOMES:,} outcomes of chance in a row, got more in "
                    f"{self.rules} after {state.history()[:4]}"
                )
            law = state.chance_outcomes()
            waiting += [(chance * each, state.child(way)) for way, each in law[::-1] if each > 0]
        return found

    def _key(self, state: Any, depth: int) -> Key:
        if self.kind == HISTORY:
            return state.current_player(), tuple(state.history())
        key = state.current_player(), str(state)
        more = () if self.kind == TEXT else (self._seen(state),)
        return (*key, *more, depth) if self.kind == MOVES else (*key, *more)

    def _meet(self, key: Key, state: Any, depth: int) -> bool:
        """Keep a state if it is new; compare it if it is not."""
        if key not in self.states:
            self.states[key], self.depths[key] = state, depth
            self.seen[key], self.paths[key] = self._seen(state), [state.history()]
            return True
        history = state.history()
        if history != self.paths[key][0]:
            self.paths[key][1:] = [history]
            self._compare(key, state, depth)
        return False

    def _seen(self, state: Any) -> Any:
        if not self.tensor:
            return None
        found = getattr(state, self.tensor)(state.current_player())
        return np.array(found, dtype=np.float32).tobytes()

    def _rows_of(self, key: Key) -> _Rows:
        if key not in self.rows:
            self.rows[key] = self._moves(self.states[key], self.depths[key])
        return self.rows[key]

    def _moves(self, state: Any, depth: int) -> _Rows:
        """Make every move of a state."""
        rows: _Rows = {}
        before, player = state.returns(), state.current_player()
        for action in state.legal_actions():
            ways = rows[action] = []
            for chance, after in self._settled(state.child(action)):
                paid = after.rewards()
                earned = [now - then for now, then in zip(after.returns(), before, strict=True)]
                if not _alike(paid, earned):
                    paid = earned  # some was paid before a move of chance
                if len(paid) == 2 and abs(sum(paid)) > CLOSE:
                    raise InputError(
                        f"game must pay two players what adds up to 0, got {paid} in {self.rules} "
                        f"after {after.history()}"
                    )
                key = None if after.is_terminal() else self._key(after, depth + 1)
                ways.append(_Way(chance, paid[player], key, after))
        return rows

    def _compare(self, key: Key, state: Any, depth: int) -> None:
        """Require that a history goes on as the first one that has led to its state."""
        if depth + 1 >= self.blind:
            return
        first, again = self._rows_of(key), self._moves(state, depth)
        same = first.keys() == again.keys() and self.seen[key] == self._seen(state)
        for one, other in zip(first.values(), again.values(), strict=False):
            same &= [(way.chance, way.after) for way in one] == [
                (way.chance, way.after) for way in other
            ] and _alike([way.reward for way in one], [way.reward for way in other])
        if not same:
            raise _ConflictError(
                f"histories {self.paths[key][0]} and {state.history()} have the same "
                f"{self.kind} and go on differently"
            )

    # ------------------------------------------------------------- random games

    def _walks(self) -> Iterator[tuple[Any, int]]:
        """Play random games: give each position with the number of moves before it."""
        rng, count = random.Random(0), 0  # noqa: S311  a sample
        most = min(self.horizon, self.blind - 1)
        for _ in range(GAMES):
            state, depth = self.rules.new_initial_state(), 0
            while not state.is_terminal() and depth < most and count < POSITIONS:
                if not state.is_chance_node():
                    yield state, depth
                    depth, count = depth + 1, count + 1
                chance = state.is_chance_node()
                law = state.chance_outcomes() if chance else [(a, 1) for a in state.legal_actions()]
                state.apply_action(rng.choice([action for action, each in law if each > 0]))

    def circles(self) -> bool:
        """Say whether a random game comes back to a state."""
        before: set[Key] = set()
        for state, depth in self._walks():
            before = before if depth else set()
            if (key := self._key(state, depth)) in before:
                return True
            before.add(key)
        return False

    def longest(self) -> float:
        """Return the number of moves of the longest game; infinity if games may circle."""
        numbers = {key: number for number, key in enumerate(self.states)}
        every = [[way for ways in self.rows[key].values() for way in ways] for key in numbers]
        targets = [-1 if w.after is None else numbers[w.after] for ways in every for w in ways]
        levels, done = levels_of(sums(np.array([*map(len, every)])), np.array(targets))
        return 1 + int(levels.max()) if done else np.inf

    def view(self, keys: list[Key]) -> View | None:
        """Return what players see in states."""
        if not self.tensor:
            return None
        shown = np.frombuffer(b"".join(self.seen[key] for key in keys), np.float32)
        space = gym.spaces.Box(-np.inf, np.inf, self.shape, np.float32)
        return View(space, shown.reshape(-1, *self.shape))


def _alike(one: list[float], other: list[float]) -> bool:
    """Say whether payoffs are the same, but for rounding."""
    return one == other or all(abs(a - b) <= CLOSE for a, b in zip(one, other, strict=True))


def _found(rules: Any, kinds: list[str], horizon: int | None, endless: bool) -> _Search:
    """Find the states of a game, told apart by as little as will do."""
    cut, said = rules.max_game_length(), "histories are asked for"
    free = horizon is not None or endless
    if free:
        kinds = [kind for kind in kinds if kind != MOVES][: 2 if endless else None]
    elif TEXT in kinds and _Search(rules, TEXT).circles():
        kinds, said = [MOVES, HISTORY], "games come back to a position"
    for kind in kinds:
        whole = kind in MOST  # and holds OpenSpiel's limit
        try:
            found = _Search(rules, kind, horizon, cut if free and not whole else np.inf).run()
        except _ConflictError as error:
            said = str(error)
            continue
        except _ManyError:
            raise InputError(_too_many(rules, kind, said)) from None
        if whole or (max(found.depths.values()) + 1 < cut if endless else free):
            return found
        if not free and found.longest() <= cut:
            return found
        said = f"games may have more than {cut:,} moves"
    raise InputError(f"game must go on by its state, and {rules} does not: {said}")


def _require_limit(rules: Any, horizon: int | None, endless: bool, histories: bool) -> None:
    if horizon is not None:
        require_count("horizon", horizon)
        if horizon > (cut := rules.max_game_length()) and not endless:
            raise InputError(
                f"horizon must be at most {cut:,}, which is the limit of {rules}, unless "
                f"endless=True, got {horizon:,}"
            )
    if endless and histories:
        raise InputError("endless must be False with histories=True, as these hold the limit")


def _too_many(rules: Any, kind: str, said: str) -> str:
    most = f"more than {MOST[kind]:,} states by {kind}"
    if said.startswith("games"):  # are too long
        return (
            f"horizon must be given for {rules}, or endless=True: it ends after "
            f"{rules.max_game_length():,} moves at most, which str(state) leaves out, and has "
            f"{most} ({said})"
        )
    return f"game must be smaller, as {rules} has {most}, and {said}"


def _library() -> Any:
    with needing("from_spiel", "'exactdice[spiel]'", InputError):
        import pyspiel
    return pyspiel


def _text_of(game: Any) -> str:
    if not isinstance(game, str) and not isinstance(game, _library().Game):
        raise InputError(f"game must be a name or a pyspiel.Game, got {type(game).__name__}")
    return str(game)


def _loaded(text: str) -> Any:
    library, name = _library(), text.partition("(")[0].strip()
    known = library.registered_names()
    if name not in known:
        near = get_close_matches(name, known, 1)
        raise InputError(
            f"game must be one of OpenSpiel's {len(known)} (pyspiel.registered_names()), got "
            f"{name!r}" + (f"; did you mean {near[0]}?" if near else "")
        )
    try:
        return library.load_game(text)
    except Exception as error:  # pyspiel has its own
        raise InputError(
            f"game must be one that OpenSpiel loads: {one_line(error)[:200]}"
        ) from None


def _require(rules: Any, perfect_information: bool) -> None:
    """Refuse a game of another kind."""
    kind, players = rules.get_type(), rules.num_players()
    where = f"got {str(rules)[:60]}"
    if kind.dynamics != kind.Dynamics.SEQUENTIAL:
        raise InputError(f"game must be one in which players move in turn, {where}")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(f"game must list its outcomes of chance, {where}, which draws them")
    if players > 2:
        raise InputError(f"game must have one or two players, {where} with {players}")
    if players == 2 and kind.utility != kind.Utility.ZERO_SUM:
        raise InputError(f"game must pay two players what adds up to 0, {where}")
    if kind.information != kind.Information.PERFECT_INFORMATION and not perfect_information:
        raise InputError(
            f"game must have perfect information, {where}; if players see the state, give "
            "perfect_information=True"
        )


def from_policy(model: Any, game: Game, reading: Reading) -> FloatArray:
    """Convert a policy of OpenSpiel, or an agent, to probabilities: shape (state, action).

    An agent of one player has a law in the states of that player alone.
    """
    if not isinstance(game, SpielGame):
        raise InputError(f"policy must be for a game of from_spiel, got {type(model).__name__}")
    if reading.observations is not None:
        raise InputError("observations must be left out, as a policy of OpenSpiel has its own")
    rules, name = _loaded(game.spiel), type(model).__name__
    law_in, places = _law_in(model, rules), {a: place for place, a in enumerate(game.choices)}

    def law_after(path: list[int]) -> FloatArray:
        state, law = rules.new_initial_state(), np.zeros(game.num_actions)
        for action in path:
            state.apply_action(action)
        try:
            for action, chance in law_in(state).items():
                if chance > 0:
                    law[places[action]] = chance
        except Exception as error:  # each policy raises its own
            said = f"{type(error).__name__}: {one_line(error)[:200]}"
            raise InputError(
                f"policy must answer in every state, and {name} raised {said} after {path}"
            ) from error
        return law

    rows = []
    for paths in game.paths:
        laws = [law_after(path) for path in paths]
        if np.ptp(laws, axis=0).max() > CLOSE:
            raise InputError(
                f"policy must depend on the state alone, and {name} has different laws after the "
                f"histories {paths[0]} and {paths[-1]}, which lead to one state: give from_spiel "
                "histories=True"
            )
        rows.append(laws[0])
    return np.array(rows)


def _law_in(model: Any, rules: Any) -> Callable[[Any], dict[int, float]]:
    """Return the function from a state to the law of a policy or an agent of OpenSpiel."""
    if hasattr(model, "action_probabilities"):
        players = getattr(model, "player_ids", (0, 1))
        return lambda state: (
            dict(model.action_probabilities(state)) if state.current_player() in players else {}
        )
    from open_spiel.python.rl_environment import Environment

    env, player = Environment(rules), getattr(model, "player_id", getattr(model, "_player_id", 0))

    def law_in(state: Any) -> dict[int, float]:
        if state.current_player() != player:
            return {}
        env.set_state(state)
        found = model.step(env.get_time_step(), is_evaluation=True)
        return dict(enumerate(found.probs)) if len(found.probs) else {found.action: 1.0}

    return law_in


@cache
def spiel_law(text: str) -> type[SpielGame]:
    """Make a class of a game of OpenSpiel, for the command line; 0 stands for its own limit."""

    class Known(SpielGame):
        name = re.sub(r"\W", "_", f"spiel {text}")

        def __init__(
            self,
            horizon: int = 0,
            endless: bool = False,
            histories: bool = False,
            perfect_information: bool = False,
        ) -> None:
            super().__init__(text, horizon or None, endless, histories, perfect_information)

        def __reduce__(self) -> tuple[Any, ...]:
            return same_again, ((_spiel_again, (text, self.keywords)), self._digest)

    _loaded(text)
    Known.__qualname__ = f"spiel:{text}"
    return Known


def _spiel_again(text: str, keywords: dict[str, Any]) -> SpielGame:
    return spiel_law(text)(**keywords)
