"""Puzzles, statistics and agents that are watched, in the terminal or through a pipe."""

from ..core import InputError, Table
from ..core.presentation import present
from ..core.progress import shown_progress
from .coach import ranked, unit_of, verdict
from .levels import agent_of
from .puzzles import Practice, Puzzle, level_of, practice_of
from .record import GameRecord
from .replies import understand, written
from .statistics import by_title, path_of_games, read_games
from .terminal import PATIENCE, Ask, Screen
from .text import BEST, rules, told
from .views import recent_of, total_view, unit_of_total

QUIT = ("q", "quit", "exit", "n", "no")
COLUMNS = {
    "games": "games",
    "decisions": "decisions",
    "lost": "lost a decision",
    "accuracy": "accuracy",
    "luck": "luck a game",
    "payoff": "result a game",
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
    screen = Screen(ask)
    with shown_progress(PATIENCE):
        game = record.against_nobody.task.game
        practice = practice_of(game, record.against or "", level, record.seed)
    screen.say(f"{present(game).title}: find the best move. q leaves.", "bold")
    screen.say(rules(game))
    try:
        while practice.puzzle is not None:
            if not _answer(practice, practice.puzzle, screen):
                break
            with shown_progress(PATIENCE):
                practice.go_on()
        else:
            screen.say("There is no other puzzle of this kind.")
    except (EOFError, KeyboardInterrupt):
        pass
    screen.say(practice.score or "No puzzle answered.", "bold")


def _answer(practice: Practice, puzzle: Puzzle, screen: Screen) -> bool:
    """Show a puzzle, ask for a move and judge it; return whether the person goes on."""
    rows, unit = puzzle.scene.rows, unit_of(practice.game)
    choices = [one.choice for one in puzzle.advice]
    screen.say("")
    screen.say(f"Puzzle {practice.answered + 1}, {level_of(puzzle.advice)}:", "bold")
    screen.board(rows)
    screen.moves(choices, short=True)
    while practice.tried is None:
        reply = screen.ask("best move: ")
        if reply.strip().casefold() in QUIT:
            return False
        try:
            practice.answer(understand(reply, choices, written(rows)).action)
        except InputError as error:
            screen.say(str(error))
    screen.say(verdict(puzzle.advice, practice.tried, unit), "cyan")
    screen.ranking(puzzle.advice, unit)
    screen.say(f"{puzzle.words} {practice.score}")
    return True


def tell_statistics() -> None:
    """Print the statistics of all kept games.

    Raises:
        InputError: if the file cannot be read.
    """
    path, screen = path_of_games(), Screen()
    games, damaged = read_games(path)
    for title, total in by_title(games).items():
        parts = {"all games": total}
        if (recent := recent_of(total)) is not None:
            parts[f"last {len(recent.games)}"] = recent
        unit = unit_of_total(total)
        views = {name: total_view(part, unit) for name, part in parts.items()}
        rows = [[name, *(view[key] for key in COLUMNS)] for name, view in views.items()]
        screen.table(Table(["", *COLUMNS.values()], rows, title))
    for words in damaged:
        screen.say(words)
    if not games:
        screen.say("No game yet: play one to its end, and it comes here.")
    screen.say(
        f"The games are in {path}." if path else "No games are kept: EXACTDICE_DATA is none."
    )


def watch(record: GameRecord, word: str, ask: Ask | None = None) -> None:
    """Show a game of an agent, move by move, with its law beside the values of the moves.

    Args:
        record: the game.
        word: the agent (see ``agent_of``).
        ask: waits for the person; by default on the terminal.

    Raises:
        ValueError: if an option is not one of the game's, or there is no such agent.
    """
    screen = Screen(ask)
    with shown_progress(PATIENCE):
        agent = agent_of(word, record.task)
        session = record.session(agent.title)
    unit, game = unit_of(session.task.game), present(session.task.game)
    screen.say(f"{game.title}, seed {session.seed}: {agent.title} plays. Enter goes on, q leaves.")
    while True:
        screen.say("")
        for number, event in enumerate(session.scene.events):
            screen.say(told(event, session.scene, own=bool(session.actions) and number == 0))
        if not session.choices:
            break
        screen.board(session.scene.rows)
        with shown_progress(PATIENCE):
            advice, law = session.advice(), agent.law(session.now.state)
        chances = [float(law[one.choice.action]) for one, *_ in ranked(advice, unit)[:BEST]]
        screen.ranking(advice, unit, (f"  {chance:>6.1%} of the time" for chance in chances))
        try:
            if screen.ask("").strip().casefold() in QUIT:
                return
        except (EOFError, KeyboardInterrupt):
            return
        session.move(agent.action(session))
    screen.say(f"{session.ended.capitalize()}.", "bold")
