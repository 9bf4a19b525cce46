"""Scenes: a moment of a game in words and pieces, from which pictures and texts are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...baselines import Task
from ...baselines.advice import seen_at
from ...core import Die, Game, Row, Tile, present
from ...core.playing import Played
from ...core.words import said_of


@dataclass(frozen=True)
class Event:
    """A move of a player."""

    who: str  # the player's name
    position: str  # the player's observation before the move, in words
    # The dice on the board before the move, or those of the outcome if no later position shows
    # them.
    dice: tuple[Die, ...]
    taken: tuple[int, ...]  # numbers of the dice that the move took (``Die.part``)
    words: str  # the move in words
    # A sentence on what the move has decided, and why; empty if it decided nothing.
    decided: str = ""
    seat: int = 0  # the player's seat


@dataclass(frozen=True)
class Scene:
    """A moment of a game."""

    title: str  # title of the game
    rows: tuple[Row, ...]  # the board
    mover: str  # name of the player to move
    seat: int  # the player's seat
    taken: tuple[int, ...] = ()  # numbers of the pieces that a move is about to take
    events: tuple[Event, ...] = ()  # moves from the agent's last move on, oldest first
    ended: str = ""  # the result in words; empty while the game goes on
    position: str = ""  # the mover's observation, in words

    @property
    def signs(self) -> dict[int, int | str]:
        """The sign on each die or tile that moves can take, by the ``part`` of the piece."""
        pieces = [piece for row in self.rows for piece in row.pieces]
        dice = {die.part: die.face for die in pieces if isinstance(die, Die)}
        tiles = {tile.part: tile.name or tile.number for tile in pieces if isinstance(tile, Tile)}
        return {part: sign for part, sign in (dice | tiles).items() if part is not None}

    @property
    def kept(self) -> list[int]:
        """The dice that the player kept in the roll before, by the ``part`` of each."""
        pieces = [piece for row in self.rows for piece in row.pieces]
        dice = [piece for piece in pieces if isinstance(piece, Die) and piece.kept]
        return [die.part for die in dice if die.part is not None]

    @property
    def words(self) -> str:
        """The scene as lines of text: the moves, and then the position or the result."""
        told = ((f"{e.who}, {e.position}: {e.words}", e.decided) for e in self.events)
        moves = [". ".join(filter(None, sentences)) for sentences in told]
        now = f"game over: {self.ended}" if self.ended else f"{self.mover}, {self.position}"
        return "\n".join([*moves, now])


def names_of(task: Task, agent: str = "agent") -> list[str]:
    """Name the players by seat."""
    players = task.game.num_players
    others = ["opponent"] * 2 if players == 2 else [f"player {seat + 1}" for seat in range(players)]
    return [agent if seat == task.seat else others[seat] for seat in range(players)]


def scene_at(
    game: Game,
    seat: int,
    state: int,
    names: Sequence[str],
    events: Iterable[Event] = (),
    action: int | None = None,
) -> Scene:
    """Return the scene of a state, with the pieces marked that ``action`` takes, if any."""
    seen, shown = seen_at(game, seat, state), present(game)
    taken = () if action is None else shown.parts(seen, action)
    board, words = shown.board(seat, seen, names), shown.describe(seen)
    return Scene(shown.title, board, names[seat], seat, taken, tuple(events), position=words)


def film(
    game: Game, played: Sequence[Played], seat: int, state: int, names: Sequence[str], ended: str
) -> list[Scene]:
    """Return the scene of each move, and then the scene after the last move.

    The player in ``seat`` is to move in ``state`` or, if the game is over, was the last to move;
    then ``ended`` is the result in words, and the last scene the board that the last move has left.
    """
    events = [event_of(game, move, names) for move in played]
    scenes = [
        scene_at(game, move.seat, move.state, names, events[: number + 1], move.action)
        for number, move in enumerate(played)
    ]
    now = scene_at(game, seat, state, names, events)
    if ended and played:
        *_, last = played
        seen = seen_at(game, last.seat, last.state)
        board = present(game).settled(last.seat, seen, last.action, last.outcome, names)
        now = replace(scenes[-1], rows=board, taken=())
    return [*scenes, replace(now, ended=ended)]


def event_of(game: Game, move: Played, names: Sequence[str]) -> Event:
    """Describe a move in words and dice."""
    seen, shown = seen_at(game, move.seat, move.state), present(game)
    dice = shown.shown(seen, move.action, move.outcome)
    if not dice:
        rows = shown.board(move.seat, seen, names)
        own = [row.pieces for row in rows if row.seat == move.seat]
        rolled = ([piece for piece in pieces if isinstance(piece, Die)] for pieces in own)
        dice = tuple(next(filter(None, rolled), ()))
    taken, who = shown.parts(seen, move.action), names[move.seat]
    told = shown.tell(seen, move.action, move.outcome)
    words = said_of(who, shown.to_you(told), told)
    decided = shown.decided(move.seat, seen, move.action, move.outcome, names)
    return Event(who, shown.describe(seen), dice, taken, words, decided, move.seat)


def ending(task: Task, payoff: float, names: Sequence[str]) -> str:
    """Write the agent's result: "agent wins", for example."""
    agent, game = names[task.seat], task.game
    if game.num_players > 1 and game.payoff_range == (0.0, 1.0):
        if payoff == 1:
            return f"{agent} {said_of(agent, 'win', 'wins')}"
        if payoff == 0:
            return f"{agent} {said_of(agent, 'lose', 'loses')}"
    return f"{agent} {said_of(agent, 'get', 'gets')} {payoff:g}"
