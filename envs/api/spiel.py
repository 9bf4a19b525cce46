"""Games of OpenSpiel: positions are found by search, and become a game that is solved exactly.

A state is the player to move, the text of OpenSpiel's state, ``str(state)``, and the observation.
What may follow must be the same for all histories that lead to it. This is compared whenever a
state is met again, and in some random games. If it differs, the number of moves so far is added to
the state; and if it still differs, each history is a state.

OpenSpiel ends all games within ``max_game_length`` moves, which texts need not show. It can change
nothing if no game by the moves that were found is longer. Else moves are counted, or the user
says within which limit the game is played.
"""

from array import array
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from typing_extensions import override

from ...baselines import Reading, Task
from ...baselines.law.explicit import View
from ...baselines.law.simple import Found, FoundGame, SimplePresentation, Waits, search
from ...core import FloatArray, Game, InputError, SizeError, presents
from ...core.checks import require_count
from ...core.errors import answering, needing
from ...core.words import meant, plural
from .search import CLOSE, ConflictError, Rows, Simulator, State, Way

#: What tells states apart, from the coarsest on, with the largest number of states.
POSITION, HISTORY = "text and observation", "history"
MOVES = "text, observation and number of moves"
MOST = {MOVES: 50_000, HISTORY: 500_000}
#: Bytes of a state while it is found, and largest number of outcomes of chance in a row.
STATE, OUTCOMES = 6000, 100_000
#: Random games that are compared with the law, and positions of them at most.
GAMES, POSITIONS = 100, 5000


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
        endless: leave out OpenSpiel's own limit of moves; endless play pays 0. A game of two
            players that need not end is solved in floats if its value is the same whatever endless
            play is worth.
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
    return Task(SpielGame(str(game), horizon, endless, histories, perfect_information))


class SpielGame(FoundGame):
    """A game of OpenSpiel (see ``from_spiel``).

    Attributes:
        kind: what tells its states apart.
        paths: one or two histories that lead to each state, actions and outcomes of chance; none
            where player 0 waits.
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
        positions, found = _listed(rules, horizon, endless, histories)
        super().__init__(found)
        met = [each.state if isinstance(each, Waits) else each for each in found.states]
        self.kind = positions.kind
        if positions.tensor:
            seen = np.frombuffer(b"".join(each.shown[0] for each in met), np.float32)
            space = gym.spaces.Box(-np.inf, np.inf, positions.shape, np.float32)
            self.view = View(space, seen.reshape(-1, *positions.shape))
        self.states = [" / ".join(str(each.key[1]).split("\n")).strip(" /") for each in met]
        self.paths = [[] if isinstance(s, Waits) else s.shown[1:] for s in found.states]


@presents(SpielGame)
class SpielPresentation(SimplePresentation):
    """The words of a game of OpenSpiel."""

    @property
    @override
    def title(self) -> str:
        return str(vars(self.game)["spiel"]).removesuffix("()")

    @property
    @override
    def heading(self) -> str:
        game: Any = self.game
        limit = f" within {game.horizon:,} moves" if game.horizon else ""
        kind = "" if game.kind == POSITION else f", told apart by {game.kind}"
        return f"{self.title}{limit}, {game.rows:,} {plural(game.rows, 'state')}{kind}"

    words = heading


class _Positions(Simulator):
    """The positions of a game, in the order in which they are met."""

    def __init__(
        self,
        rules: Any,
        kind: str,  # what tells states apart
        horizon: int | None,
        blind: float,  # moves from which on OpenSpiel's limit, which is left out, may show
        said: str,  # why less does not tell them apart
    ) -> None:
        super().__init__()
        self.rules, self.kind, self.blind, self.said = rules, kind, blind, said
        self.limit = horizon or np.inf
        kinds, self.shape, self.tensor = rules.get_type(), (), ""
        for name in ("information_state", "observation"):
            if getattr(kinds, f"provides_{name}_tensor"):
                self.tensor = f"{name}_tensor"
                self.shape = tuple(getattr(rules, f"{name}_tensor_shape")())
        self.size = STATE + 4 * int(np.prod(self.shape))

    @override
    def begin(self) -> list[tuple[float, State]]:
        begun = self._settled(self.rules.new_initial_state())
        return [(chance, self._met(state, 0)) for chance, state in begun]

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

    def _met(self, state: Any, depth: int) -> State:
        player, seen, history = state.current_player(), None, state.history()
        if self.tensor:
            seen = array("f", getattr(state, self.tensor)(player)).tobytes()
        key: tuple[Any, ...] = player, tuple(history)
        if self.kind != HISTORY:
            key = (player, str(state), seen, *[depth] * (self.kind == MOVES))
        return State(key, [seen, history], state, player)

    @override
    def moves(self, state: State) -> Rows:
        most = MOST.get(self.kind, np.inf)
        if len(self.known) > most:
            raise InputError(
                f"game must have at most {most:,} states by {self.kind}, got more in {self.rules}, "
                f"and {self.said}"
            )
        rows: Rows = {}
        before = state.copy.returns()
        for action in state.copy.legal_actions():
            ways = rows[action] = []
            for chance, after in self._settled(state.copy.child(action)):
                paid = after.rewards()
                earned = [now - then for now, then in zip(after.returns(), before, strict=True)]
                if paid != earned and not np.allclose(paid, earned, rtol=0, atol=CLOSE):
                    paid = earned  # some was paid before a move of chance
                if len(paid) == 2 and abs(sum(paid)) > CLOSE:
                    raise InputError(
                        f"game must pay two players what adds up to 0, got {paid} in {self.rules} "
                        f"after {after.history()}"
                    )
                met = None if after.is_terminal() else self._met(after, state.depth + 1)
                ways.append(Way(chance, paid[state.player], met))
        return rows

    @override
    def compare(self, state: State, met: State) -> None:
        """Require that a history goes on as the first one that has led to its state."""
        first, again = state.shown[1], met.shown[1]
        if first == again or met.depth + 1 >= self.blind:
            return
        state.shown[2:] = [again]
        rows, others = self.rows(state), self.moves(met)
        if rows.keys() != others.keys() or not all(
            [way.chance for way in ways] == [way.chance for way in others[action]]
            and all(map(Way.same, ways, others[action]))
            for action, ways in rows.items()
        ):
            raise ConflictError(
                f"histories {first} and {again} have the same {self.kind} and go on differently"
            )

    @override
    def play(self, met: State, action: int) -> Way:
        return self.rng.choice(self.moves(met)[action])


def _listed(
    rules: Any, horizon: int | None, endless: bool, histories: bool
) -> tuple[_Positions, Found]:
    """Find the states of a game, told apart by as little as will do."""
    cut, said = rules.max_game_length(), "histories are asked for"
    if horizon is not None:
        require_count("horizon", horizon)
        if horizon > cut and not endless:
            raise InputError(
                f"horizon must be at most {cut:,}, which is the limit of {rules}, unless "
                f"endless=True, got {horizon:,}"
            )
    if endless and histories:
        raise InputError("endless must be False with histories=True, as these hold the limit")
    free = horizon is not None or endless
    coarser = [] if histories else [POSITION] if free else [POSITION, MOVES]
    for kind in coarser if endless else [*coarser, HISTORY]:
        positions = _Positions(rules, kind, horizon, cut if free else np.inf, said)
        try:
            found = search(positions, positions.size)
            reached = 1 + [*found.states][-1].depth if positions.limit > cut else 0
            if kind == POSITION and (reached >= cut if free else found.longest() > cut):
                raise ConflictError(
                    f"games come back to a position, or have over {cut:,} moves: this limit of "
                    "OpenSpiel is no part of str(state) (see horizon and endless)"
                )
            positions.replay(GAMES, min(POSITIONS // GAMES, positions.blind - 1))
        except ConflictError as error:
            said = str(error)
        else:
            return positions, found
    raise InputError(f"game must go on by its state, and {rules} does not: {said}")


def _loaded(text: str) -> Any:
    with needing("from_spiel", "'exactdice[spiel]'", InputError):
        import pyspiel
    name, known = text.partition("(")[0].strip(), pyspiel.registered_names()
    if name not in known:
        raise InputError(
            f"game must be one of OpenSpiel's {len(known)} (pyspiel.registered_names()), got "
            f"{name!r}{meant(name, known)}"
        )
    with answering("game must be one that OpenSpiel loads"):
        return pyspiel.load_game(text)


def _require(rules: Any, perfect_information: bool) -> None:
    """Refuse a game of another kind."""
    kind, players = rules.get_type(), rules.num_players()
    seen = perfect_information or kind.information == kind.Information.PERFECT_INFORMATION
    for right, wanted in (
        (kind.dynamics == kind.Dynamics.SEQUENTIAL, "be one in which players move in turn"),
        (kind.chance_mode != kind.ChanceMode.SAMPLED_STOCHASTIC, "list its outcomes of chance"),
        (not rules.new_initial_state().is_terminal(), "begin with a move"),
        (players <= 2, "have one or two players"),
        (
            players == 1 or kind.utility == kind.Utility.ZERO_SUM,
            "pay two players what adds up to 0",
        ),
        (seen, "have perfect information (perfect_information=True declares that players see all)"),
    ):
        if not right:
            raise InputError(f"game must {wanted}, got {str(rules)[:60]}")


def from_policy(model: Any, game: Game, reading: Reading) -> FloatArray:
    """Convert a policy of OpenSpiel, or an agent, to probabilities: shape (state, action).

    An agent of one player has a law in the states of that player alone.
    """
    if not isinstance(game, SpielGame):
        raise InputError(f"policy must be for a game of from_spiel, got {type(model).__name__}")
    if reading.observations is not None:
        raise InputError("observations must be left out, as a policy of OpenSpiel has its own")
    rules, name, choices = _loaded(game.spiel), type(model).__name__, game.choices
    policy = _as_policy(model, rules)
    players = getattr(policy, "player_ids", (0, 1))

    def law_after(path: list[int]) -> FloatArray:
        state, law = rules.new_initial_state(), np.zeros(game.num_actions)
        for action in path:
            state.apply_action(action)
        if state.current_player() in players:
            with answering(f"policy must answer in every state, and {name} fails after {path}"):
                for action, chance in dict(policy.action_probabilities(state)).items():
                    if chance > 0:
                        law[choices.index(action)] = chance
        return law

    rows, legal = [], game.mask(np.arange(game.rows)) * 1.0
    for state, paths in enumerate(game.paths):
        laws = [law_after(path) for path in paths] or [legal[state]]
        if np.ptp(laws, axis=0).max() > CLOSE:
            raise InputError(
                f"policy must depend on the state alone, and {name} has different laws after the "
                f"histories {paths[0]} and {paths[-1]}, which lead to one state: give from_spiel "
                "histories=True"
            )
        rows.append(laws[0])
    return np.array(rows)


def _as_policy(model: Any, rules: Any) -> Any:
    """Return a policy of OpenSpiel, or that of an agent, in the states of its player."""
    if hasattr(model, "action_probabilities"):
        return model
    from open_spiel.python.rl_agent_policy import RLAgentPolicy

    player = getattr(model, "player_id", getattr(model, "_player_id", 0))
    informed = rules.get_type().provides_information_state_tensor
    return RLAgentPolicy(rules, model, player, use_observation=not informed)


def spiel_law(name: str) -> tuple[type[SpielGame], dict[str, Any], Callable[..., Any]]:
    """Return class, defaults and arguments of the games ``spiel:NAME``; horizon 0 for no own."""
    _loaded(name)
    defaults = dict.fromkeys(("endless", "histories", "perfect_information"), False)

    def arguments(horizon: int, **flags: bool) -> tuple[Any, ...]:
        return name, horizon or None, *flags.values()

    return SpielGame, {"horizon": 0, **defaults}, arguments
