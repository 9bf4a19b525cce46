"""A game in the terminal."""

from pathlib import Path

from rich.console import Console

from ..games import InputError
from .record import Record, free_path


def play(record: Record, path: Path | None) -> bool:
    """Play until the end or until the person leaves; then an unfinished game is saved.

    Args:
        record: the game to begin or to go on with.
        path: where to save it; None for a new file of the current folder.

    Returns:
        Whether nobody pressed Ctrl-C.
    """
    console, session = Console(highlight=False), record.session()
    console.print(f"{session.task.game.title}, seed {session.seed}")
    try:
        while True:
            console.print(session.scene.words, markup=False)
            if not session.choices:
                return True
            for choice in session.choices:
                console.print(f"  {choice.action}  {choice.words}", markup=False)
            try:
                session.move(int(input("your move: ")))
            except InputError as error:
                console.print(str(error), markup=False)
            except ValueError:
                console.print("that is no number")
    except EOFError:
        return True
    except KeyboardInterrupt:
        return False
    finally:
        if session.actions and session.choices:
            path = path or free_path(record)
            record.after(session).write(path)
            console.print(f"\nsaved: exactdice play --resume {path}", markup=False)
