"""A person's game in the terminal, or through a pipe."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import wrap

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ..core import InputError, Row, Table, WriteError
from ..core.presentation import present
from ..core.progress import shown_progress
from ..core.words import listed, printable, typed
from .advice import Advice, Choice
from .coach import Unit, balance_in_words, result, unit_of, verdict
from .levels import rivals
from .record import SEEDS, GameRecord, free_path
from .replies import possible, understand, written
from .session import Session
from .statistics import keep, kept_game, path_of_games
from .text import ASCII, UNICODE, board, listing, ranking, rules, told

#: Returns the reply to a question; raises EOFError at the end of the input.
Ask = Callable[[str], str]

PATIENCE = 1.0  # seconds until a long computation is shown
MANY = 6  # a longer list of moves is laid out in columns
COMMANDS = {
    word: name
    for name, words in {
        "undo": ("u", "undo"),
        "hint": ("h", "hint", "coach"),
        "quit": ("q", "quit", "exit"),
        "help": ("?", "help"),
    }.items()
    for word in words
}


class Screen:
    """Prints on the terminal, or into a pipe, and asks there.

    Args:
        ask: asks for a reply in place of the terminal.
    """

    def __init__(self, ask: Ask | None = None) -> None:
        self._console = Console(highlight=False)
        self._signs = ASCII if self._console.options.ascii_only else UNICODE
        for stream in (sys.stdin, sys.stdout):
            if hasattr(stream, "reconfigure"):  # typed bytes may be invalid in the encoding
                stream.reconfigure(errors="backslashreplace")
        self.ask: Ask = ask or (input if sys.stdin.isatty() else self._read)

    def _read(self, prompt: str) -> str:
        """Read a line from a pipe, and print it behind the question."""
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        self.draw(prompt + printable(line.strip()))
        return line

    def say(self, words: str, style: str | None = None) -> None:
        """Print a sentence, wrapped with an indent."""
        width = self._console.width
        for line in wrap(words, width, subsequent_indent="    ") if words.strip() else [words]:
            self.draw(line, style)

    def draw(self, line: str, style: str | None = None) -> None:
        """Print a line without wrapping, such as a command to copy."""
        self._console.print(line, style=style, markup=False, emoji=False, soft_wrap=True)

    def board(self, rows: Sequence[Row]) -> None:
        """Draw a board."""
        for line in board(rows, self._signs):
            self.draw(line)

    def moves(self, choices: Sequence[Choice], *, short: bool) -> None:
        """List legal moves, in columns if there are many."""
        lines = listing(choices, short=short)
        if len(lines) > MANY:
            self._console.print(Columns(map(Text, lines), padding=(0, 2), column_first=True))
        else:
            self.draw("\n".join(lines))

    def ranking(self, advice: Sequence[Advice], unit: Unit, before: Iterable[str] = ()) -> None:
        """List the best moves with their values, each behind a text if ``before`` has one."""
        texts = list(before)
        for number, line in enumerate(ranking(advice, unit)):
            self.draw(f"{texts[number] if texts else ''}{line}")

    def table(self, table: Table) -> None:
        """Print a table."""
        table.show(self._console)


def play(record: GameRecord, path: Path | None = None, ask: Ask | None = None) -> bool:
    """Play until the person leaves; an unfinished game is saved, even after Ctrl-C.

    Args:
        record: the game to start or to resume.
        path: file to save in, and at once, as a trial; None for a new file in the current folder.
        ask: asks for a move; by default on the terminal.

    Returns:
        False if Ctrl-C ended the game, else True.

    Raises:
        ValueError: if an option is not one of the game's.
        WriteError: if the game cannot be saved.
    """
    with shown_progress(PATIENCE):
        session = record.session()
    is_new = path is not None and not os.path.lexists(path)
    if path is not None:  # nobody plays a game that cannot be saved
        record.write(path, advice="; name another by --save")
    terminal = Terminal(Screen(ask), record, session, path, is_new=is_new)
    try:
        terminal.run()
    except EOFError:
        return True
    except KeyboardInterrupt:
        return False
    finally:
        terminal.leave()
    return True


class Terminal:
    """A person's game on a console.

    Args:
        screen: prints everything, and asks for moves.
        record: the options of the game.
        session: the game, new or resumed.
        path: file to save in; None for a new file in the current folder.
        is_new: whether ``path`` was created for this game; then the file is removed at the end
            unless it holds an unfinished game.
    """

    def __init__(
        self,
        screen: Screen,
        record: GameRecord,
        session: Session,
        path: Path | None,
        *,
        is_new: bool = False,
    ) -> None:
        self._screen, self._is_new = screen, is_new
        self._say, self._draw, self._ask = screen.say, screen.draw, screen.ask
        self._record, self._session, self._path = record, session, path
        self._coached = record.coach
        self._unit = unit_of(session.task.game)
        self._left, self._counts = False, not record.together

    # -------------------------------------------------------------- the game

    def run(self) -> None:
        """Play games until the person leaves."""
        self._greet()
        while not self._left:
            self._show()
            if self._session.choices:
                self._turn()
            else:
                self._again()

    def leave(self) -> None:
        """Save an unfinished game and print how to resume it; a second call does nothing."""
        if self._left:
            return
        self._left = True
        if self._session.actions and self._session.choices:
            self._save()
            return
        self._forget()
        if self._session.choices:
            self._draw(f"\nThe same game again:\n  {self._same_game()}")
        else:
            self._say("")

    def _forget(self) -> None:
        """Remove the file of a game that need not be saved, if this session created the file."""
        if self._is_new and self._path is not None:
            self._path.unlink(missing_ok=True)

    def _turn(self) -> None:
        """Ask until the person makes a move, takes one back, or leaves."""
        session = self._session
        while True:
            only = session.choices[0] if len(session.choices) == 1 else None
            whose = f"{session.names[session.seat]}, " if session.together else ""
            reply = self._ask(f"{whose}your move{' (Enter will do)' if only else ''}: ")
            command = COMMANDS.get(reply.strip().casefold())
            if command == "quit":
                return self._quit()
            if command == "undo":
                if self._undo():
                    return None
            elif command == "hint":
                self._hint()
            elif command == "help":
                self._help()
            elif not reply.strip():
                if only is not None:
                    return self._session.move(only.action)
            elif self._move(reply):
                return None

    def _again(self) -> None:
        """Ask after the end of a game whether to play again."""
        session = self._session
        self._draw(f"The seed was {session.seed}: {self._same_game()}")
        while True:
            reply = self._ask("again? (y: new dice, s: the same dice, u: take back, n: no) ")
            word = reply.strip().casefold()
            command = COMMANDS.get(word)
            if word in ("", "n", "no") or command == "quit":
                self._forget()
                self._left = True
                return
            if word in ("y", "yes", "s", "same"):
                seed = (session.seed + (word[0] == "y")) % SEEDS
                self._session = session.again(seed)
                self._counts = seed != session.seed and not self._record.together
                self._say("")
                self._say(f"A new game, seed {seed}.")
                return
            if command == "undo":
                self._undo()
                return
            self._say("Type y, s, u or n.")

    def _move(self, reply: str) -> bool:
        """Make the move that a reply means; return whether there is such a move."""
        session = self._session
        on = written(session.scene.rows)
        try:
            choice = understand(reply, session.choices, on)
        except InputError as error:
            self._say(str(error))
            return False
        session.move(choice.action)
        return True

    def _undo(self) -> bool:
        """Take the last move back; return whether there was a move."""
        try:
            self._session.undo()
        except InputError:
            self._say("There is no move to take back.")
            return False
        self._say("Taken back. The same move again gets the same dice.")
        return True

    def _quit(self) -> None:
        """Leave, or go on if the game has to be saved and cannot be."""
        try:
            self.leave()
        except OSError as error:
            self._left, why = False, printable(error.strerror or str(error))  # with no number
            self._say(f"Not saved: {why}. The end of the input leaves as well.")

    def _save(self) -> None:
        path = self._path or free_path(self._record)
        self._record.after(self._session).write(path)
        self._path = path
        self._draw(
            f"\nSaved. To come back:\n  exactdice play --resume {printable(typed([str(path)]))}"
        )

    def _same_game(self) -> str:
        return self._record.after(self._session).command

    # ------------------------------------------------------------- the words

    def _greet(self) -> None:
        session, task = self._session, self._session.task
        self._say(f"{present(task.game).title}, seed {session.seed}", style="bold")
        if session.together:
            self._say(f"You are {task.game.num_players} persons at this screen, by turns.")
        elif task.labels:
            place, others = task.seat + 1, printable(listed(one.title for one in rivals(task)))
            self._say(f"You are player {place} of {task.game.num_players}, against {others}.")
        if self._coached:
            self._say(f"The coach says what moves are worth: {self._unit.meaning}")
        self._say(
            "u takes a move back, h says what is best, q saves and leaves, ? tells the rules."
        )

    def _show(self) -> None:
        """Print the moves from the person's last one on, then the table or the end."""
        session, scene = self._session, self._session.scene
        self._say("")
        own = bool(session.actions)  # whether the first event is the person's move
        for number, event in enumerate(scene.events):
            mine = own and number == 0
            self._say(told(event, scene, own=mine))
            if mine and self._coached:
                self._judge()
        if not session.choices:
            return self._end()
        if scene.events:
            self._say("")
        self._screen.board(scene.rows)
        self._screen.moves(session.choices, short=True)
        return None

    def _end(self) -> None:
        """Print the result of the game and the coach's account of it, and keep the game once."""
        self._say("")
        self._say(result(self._session, self._unit), style="bold")
        if self._coached:
            for seat in self._session.persons:
                who = f"Coach, {self._session.names[seat]}" if self._session.together else "Coach"
                self._say(f"{who}: {balance_in_words(self._session, seat, self._unit)}")
        if self._counts:
            self._counts = False
            try:
                with shown_progress(PATIENCE):
                    keep(kept_game(self._session, self._record), path_of_games())
            except WriteError as error:
                self._say(str(error))

    def _advice(self, before: int = 0) -> list[Advice]:
        """Return the values of moves; the game may have to be solved."""
        with shown_progress(PATIENCE):
            return self._session.advice(before)

    def _judge(self) -> None:
        """Print the coach's verdict on the last move."""
        if words := verdict(self._advice(before=1), self._session.actions[-1], self._unit):
            self._say(f"  coach: {words}", style="cyan")

    def _hint(self) -> None:
        """Print the best moves and their values."""
        advice = self._advice()
        self._say(f"What moves are worth: {self._unit.meaning}")
        self._screen.ranking(advice, self._unit)

    def _help(self) -> None:
        choices = self._session.choices
        self._say(rules(self._session.task.game))
        self._say("Your moves:")
        self._screen.moves(choices, short=False)
        self._say(f"To move, {possible(choices, written(self._session.scene.rows))}.")
        self._say("u takes the last move back: the same move again gets the same dice.")
        self._say("h shows the best moves and what each is worth.")
        self._say("q, or the end of the input, saves the game and leaves.")
