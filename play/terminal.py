"""A person's games, puzzles and statistics in the terminal, or through a pipe."""

import os
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..core import InputError, Table, WriteError, present
from ..core.progress import shown_progress
from ..core.words import listed, printable, typed
from .coach import balance_in_words, result, unit_of, verdict
from .levels import agent_of, rivals
from .puzzles import ANY, DAY, Practice, Puzzle, level_of, practice_of
from .record import SEEDS, GameRecord, free_path
from .statistics import keep, kept_game, path_of_games, statistics_view
from .text import Screen, possible, told_moves, understand

PATIENCE = 1.0  # seconds until a long computation is shown
#: Commands at the question for a move, by the words for them.
COMMANDS = {
    **dict.fromkeys(("u", "undo"), "undo"),
    **dict.fromkeys(("h", "hint", "coach"), "hint"),
    **dict.fromkeys(("q", "quit", "exit"), "quit"),
    **dict.fromkeys(("?", "help", "rules", "please help"), "help"),
}
#: Words that leave where no game is to be saved.
LEAVE = ("q", "quit", "exit", "n", "no")
#: The columns of the statistics, by figure.
COLUMNS = {
    "games": "games",
    "decisions": "decisions",
    "lost": "lost a decision",
    "accuracy": "accuracy",
    "luck": "luck a game",
    "payoff": "result a game",
}


def play(record: GameRecord, path: Path | None = None) -> None:
    """Play until the person leaves; an unfinished game is saved, even after Ctrl-C."""
    terminal = Terminal(record, path)
    try:
        with suppress(EOFError):
            terminal.run()
    finally:
        terminal.leave()


class Terminal:
    """A person's game on a console; the arguments are those of ``play``.

    A file that was created for this game is removed at the end unless it holds an unfinished game.
    """

    def __init__(self, record: GameRecord, path: Path | None) -> None:
        with shown_progress(PATIENCE):
            self._session = record.session()
        self._record, self._path = record, path
        self._is_new = path is not None and not os.path.lexists(path)
        if path is not None:  # nobody plays a game that cannot be saved; else a new file is made
            record.write(path, advice="; name another by --save")
        self._screen = Screen()
        self._say, self._draw, self._ask = self._screen.say, self._screen.draw, self._screen.ask
        self._unit = unit_of(self._session.task.game)
        self._left, self._counts = False, not record.together

    def run(self) -> None:
        """Play games until the person leaves."""
        self._greet()
        while not self._left:
            self._show()
            if self._session.choices:
                self._turn()
            else:
                self._end()
                self._again()

    def leave(self) -> None:
        """Save an unfinished game and print how to resume it; a second call does nothing."""
        if self._left:
            return
        self._left = True
        if self._session.actions and self._session.choices:
            path = self._path or free_path(self._record)
            self._record.after(self._session).write(path)
            saved = printable(typed([str(path)]))
            self._draw(f"\nSaved. To come back:\n  exactdice play --resume {saved}")
            return
        self._forget()
        if self._session.choices:
            self._draw(f"\nThe same game again:\n  {self._record.after(self._session).command}")
        else:
            self._say("")

    def _forget(self) -> None:
        """Remove the file of a game that need not be saved, if this session created the file."""
        if self._is_new and self._path is not None:
            self._path.unlink(missing_ok=True)

    def _turn(self) -> None:
        """Ask until the person makes a move, takes one back, or leaves."""
        session = self._session
        only = session.choices[0] if len(session.choices) == 1 else None
        whose = f"{session.names[session.now.seat]}, " if session.together else ""
        commands = {"undo": self._undo, "hint": self._hint, "help": self._help, "quit": self._quit}
        done = False
        while not done:
            reply = self._ask(f"{whose}your move{' (Enter will do)' if only else ''}: ")
            command = COMMANDS.get(reply.strip().casefold())
            if command is not None:
                done = commands[command]()
            elif reply.strip():
                done = self._move(reply)
            elif only is not None:
                session.move(only.action)
                done = True

    def _again(self) -> None:
        """Ask after the end of a game whether to play again."""
        session = self._session
        self._draw(f"The seed was {session.seed}: {self._record.after(session).command}")
        while True:
            reply = self._ask("again? (y: new dice, s: the same dice, u: take back, n: no) ")
            word = reply.strip().casefold()
            if word in ("", *LEAVE):
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
            if COMMANDS.get(word) == "undo":
                self._undo()
                return
            self._say("Type y, s, u or n.")

    def _move(self, reply: str) -> bool:
        """Make the move that a reply means; return whether there is such a move."""
        session = self._session
        try:
            choice = understand(reply, session.choices, session.scene.signs)
        except InputError as error:
            self._say(str(error))
            self._screen.board(session.scene.rows)
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

    def _quit(self) -> bool:
        """Leave, or go on if the game has to be saved and cannot be; return True in any case."""
        try:
            self.leave()
        except OSError as error:
            self._left, why = False, printable(error.strerror or str(error))  # with no number
            self._say(f"Not saved: {why}. The end of the input leaves as well.")
        return True

    def _greet(self) -> None:
        session, task = self._session, self._session.task
        self._say(f"{present(task.game).title}, seed {session.seed}", style="bold")
        if welcome := present(task.game).welcome:
            self._say(welcome)
        if session.together:
            self._say(f"You are {task.game.num_players} persons at this screen, by turns.")
        elif task.labels:
            place, others = task.seat + 1, printable(listed(one.title for one in rivals(task)))
            self._say(f"You are player {place} of {task.game.num_players}, against {others}.")
        if self._record.coach:
            self._say(f"The coach says what moves are worth: {self._unit.meaning}")
        self._say(
            "u takes a move back, h says what is best, q saves and leaves, ? tells the rules."
        )

    def _show(self) -> None:
        """Print the moves from the person's last one on, then the table if the game goes on."""
        session, scene = self._session, self._session.scene
        self._say("")
        for number, words in enumerate(told_moves(session)):
            self._say(words)
            if number == 0 and session.actions and self._record.coach:
                with shown_progress(PATIENCE):  # the game may have to be solved
                    advice = session.advice(before=1)
                if said := verdict(advice, session.actions[-1], self._unit):
                    self._say(f"  coach: {said}", style="cyan")
        if session.choices:
            if scene.events:
                self._say("")
            self._screen.board(scene.rows)
            self._screen.moves(session.choices, short=True)

    def _end(self) -> None:
        """Print the result of the game and the coach's account of it, and keep the game once."""
        self._say("")
        self._say(result(self._session, self._unit), style="bold")
        if self._record.coach:
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

    def _hint(self) -> bool:
        """Print the best moves and their values; return False, as the person is to move yet."""
        with shown_progress(PATIENCE):
            advice = self._session.advice()
        self._say(f"What moves are worth: {self._unit.meaning}")
        self._screen.ranking(advice, self._unit)
        return False

    def _help(self) -> bool:
        """Print the rules and what can be typed; return False, as the person is to move yet."""
        choices = self._session.choices
        self._screen.rules(self._session.task.game)
        self._say("Your moves:")
        self._screen.moves(choices, short=False)
        self._say(f"To move, {possible(choices, self._session.scene.signs)}.")
        self._say("u takes the last move back: the same move again gets the same dice.")
        self._say("h shows the best moves and what each is worth.")
        self._say("q, or the end of the input, saves the game and leaves.")
        return False


def practise(record: GameRecord, level: str) -> None:
    """Ask puzzles of a level until the person leaves, from the mistakes of ``record.against``.

    The level "day" is the puzzle of the day, which the date alone determines, and those after it.
    """
    screen, seed = Screen(), record.seed
    if level == DAY:
        level, seed = ANY, int(date.today().strftime("%Y%m%d"))
    with shown_progress(PATIENCE):
        game = replace(record, against=None).task.game
        practice = practice_of(game, record.against or "", level, seed)
    screen.say(f"{present(game).title}: find the best move. q leaves.", "bold")
    screen.rules(game)
    with suppress(EOFError, KeyboardInterrupt):
        while practice.puzzle is not None:
            if not _answer(practice, practice.puzzle, screen):
                break
            with shown_progress(PATIENCE):
                practice.go_on()
        else:
            screen.say("There is no other puzzle of this kind.")
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
        if reply.strip().casefold() in LEAVE:
            return False
        try:
            practice.answer(understand(reply, choices, puzzle.scene.signs).action)
        except InputError as error:
            screen.say(str(error))
            screen.board(rows)
    screen.say(verdict(puzzle.advice, practice.tried, unit), "cyan")
    screen.ranking(puzzle.advice, unit)
    screen.say(f"{puzzle.words} {practice.score}")
    return True


def tell_statistics() -> None:
    """Print the statistics of all kept games."""
    screen, view = Screen(), statistics_view()
    for game in view["games"]:
        parts = {"all games": game["all"]}
        if recent := game["recent"]:
            parts[f"last {recent['games']}"] = recent
        rows = [[name, *(part[key] for key in COLUMNS)] for name, part in parts.items()]
        Table(["", *COLUMNS.values()], rows, game["title"]).show(screen.console)
    for words in view["damaged"]:
        screen.say(words)
    if not view["games"]:
        screen.say("No game yet: play one to its end, and it comes here.")
    path = view["file"]
    screen.say(
        f"The games are in {path}." if path else "No games are kept: EXACTDICE_DATA is none."
    )


def watch(record: GameRecord, word: str) -> None:
    """Show a game of an agent, move by move, with its law beside the values of the moves."""
    screen = Screen()
    with shown_progress(PATIENCE):
        agent = agent_of(word, record.task)
        session = record.session(agent.title)
    unit, game = unit_of(session.task.game), present(session.task.game)
    screen.say(f"{game.title}, seed {session.seed}: {agent.title} plays. Enter goes on, q leaves.")
    while True:
        screen.say("")
        for words in told_moves(session):
            screen.say(words)
        if not session.choices:
            break
        screen.board(session.scene.rows)
        with shown_progress(PATIENCE):
            advice, law = session.advice(), agent.law(session.now.state)
        screen.ranking(advice, unit, law)
        try:
            if screen.ask("").strip().casefold() in LEAVE:
                return
        except (EOFError, KeyboardInterrupt):
            return
        session.move(agent.action(session))
    screen.say(f"{session.ended.capitalize()}.", "bold")
