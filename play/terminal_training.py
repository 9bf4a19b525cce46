"""Puzzles, statistics and agents that are watched, in the terminal or through a pipe."""

from rich.console import Console

from ..core import InputError
from ..core.presentation import present
from ..envs.drawing.scene import scene_at
from .asking import Ask, Voice, asking, patience
from .coach import ranked, unit_of, verdict
from .puzzles import Practice, level_of, practice_of
from .record import GameRecord
from .replies import understand, written
from .rules import rules
from .statistics import by_title, path_of_games, read_games
from .text import ASCII, BEST, UNICODE, board, listing, ranking, told
from .training_views import names_in, recent_of, total_view, unit_of_total
from .watching import agent_of

QUIT = ("q", "quit", "exit", "n", "no")
COLUMNS = {
    "games": "games",
    "decisions": "decisions",
    "lost": "lost/decision",
    "accuracy": "accuracy",
    "luck": "luck/game",
    "payoff": "result/game",
}


def practise(record: GameRecord, level: str, ask: Ask | None = None) -> None:
    """Ask puzzles until the person leaves.

    Args:
        record: the game; its ``against`` is the player whose mistakes are asked.
        level: as of ``puzzles``.
        ask: asks for a move; by default on the terminal.

    Raises:
        ValueError: if an option is not one of the game's.
    """
    console = Console(highlight=False)
    ask, voice = ask or asking(console), Voice(console)
    with patience(console):
        game = record.against_nobody.task.game
        practice = practice_of(game, record.against or "", level, record.seed)
    voice.say(f"{present(game).title}: find the best move. q leaves.", "bold")
    voice.say(rules(game))
    try:
        while practice.puzzle is not None:
            _show(practice, voice, console)
            if not _answer(practice, voice, ask):
                break
            with patience(console):
                practice.go_on()
        else:
            voice.say("There is no other puzzle of this kind.")
    except (EOFError, KeyboardInterrupt):
        pass
    voice.say(practice.score or "No puzzle answered.", "bold")


def _show(practice: Practice, voice: Voice, console: Console) -> None:
    """Print the position and the legal moves."""
    puzzle = practice.puzzle
    assert puzzle is not None
    game, seat = practice.game, puzzle.task.seat
    rows = scene_at(game, seat, puzzle.state, names_in(game, seat)).rows
    voice.say("")
    voice.say(f"Puzzle {practice.answered + 1}, {level_of(puzzle.advice)}:", "bold")
    for line in board(rows, ASCII if console.options.ascii_only else UNICODE):
        voice.draw(line)
    for line in listing([one.choice for one in puzzle.advice], short=True):
        voice.draw(line)


def _answer(practice: Practice, voice: Voice, ask: Ask) -> bool:
    """Ask for a move and judge it; return whether the person goes on."""
    puzzle = practice.puzzle
    assert puzzle is not None
    game, task = practice.game, puzzle.task
    choices = [one.choice for one in puzzle.advice]
    rows = scene_at(game, task.seat, puzzle.state, names_in(game, task.seat)).rows
    while practice.tried is None:
        reply = ask("best move: ")
        if reply.strip().casefold() in QUIT:
            return False
        try:
            practice.answer(understand(reply, choices, written(rows)).action)
        except InputError as error:
            voice.say(str(error))
    voice.say(verdict(puzzle.advice, practice.tried, unit_of(game)), "cyan")
    for line in ranking(puzzle.advice, unit_of(game)):
        voice.draw(line)
    voice.say(f"{puzzle.words} {practice.score}")
    return True


def tell_statistics() -> None:
    """Print the statistics of all kept games.

    Raises:
        InputError: if the file cannot be read.
    """
    path, voice = path_of_games(), Voice(Console(highlight=False))
    games, damaged = read_games(path)
    for title, total in by_title(games).items():
        voice.say(title, "bold")
        rows = {"": COLUMNS, "all games": total_view(total, unit_of_total(total))}
        if (recent := recent_of(total)) is not None:
            rows[f"last {len(recent.games)}"] = total_view(recent, unit_of_total(total))
        for name, row in rows.items():
            voice.draw(f"  {name:<10}" + "".join(f"{row[key]!s:>14}" for key in COLUMNS))
    for words in damaged:
        voice.say(words)
    if not games:
        voice.say("No game yet: play one to its end, and it comes here.")
    voice.say(f"The games are in {path}." if path else "No games are kept: EXACTDICE_DATA is none.")


def watch(record: GameRecord, word: str, ask: Ask | None = None) -> None:
    """Show a game of an agent, move by move, with its law beside the values of the moves.

    Args:
        record: the game.
        word: the agent (see ``agent_of``).
        ask: waits for the person; by default on the terminal.

    Raises:
        ValueError: if an option is not one of the game's, or there is no such agent.
    """
    console = Console(highlight=False)
    ask, voice = ask or asking(console), Voice(console)
    with patience(console):
        agent = agent_of(word, record.task)
        session = record.session(agent.title)
    unit, game = unit_of(session.task.game), present(session.task.game)
    voice.say(f"{game.title}, seed {session.seed}: {agent.title} plays. Enter goes on, q leaves.")
    while True:
        voice.say("")
        scene = session.scene
        for number, event in enumerate(scene.events):
            voice.say(told(event, scene, own=bool(session.actions) and number == 0))
        if not session.choices:
            break
        for line in board(scene.rows, ASCII if console.options.ascii_only else UNICODE):
            voice.draw(line)
        with patience(console):
            advice, law = session.advice(), agent.law(session.now.state)
        chances = [float(law[one.choice.action]) for one, *_ in ranked(advice, unit)[:BEST]]
        for line, chance in zip(ranking(advice, unit), chances, strict=True):
            voice.draw(f"  {chance:>6.1%} of the time{line}")
        try:
            if ask("").strip().casefold() in QUIT:
                return
        except (EOFError, KeyboardInterrupt):
            return
        session.move(agent.action(session))
    voice.say(f"{session.ended.capitalize()}.", "bold")
