"""What Windows and macOS have otherwise: encodings of texts and of consoles."""

import ast
import os
import subprocess
import sys

import pytest
from checkout import FILES, parsed
from exactdice.play.record import GameRecord


def texts_of_unsaid_encoding(code):
    """Yield the lines that read or write a file's text in the encoding of the system."""
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            values = [word.value for word in node.args if isinstance(word, ast.Constant)]
            binary = any("b" in str(value) for value in values)
            said = any(word.arg == "encoding" for word in node.keywords)
            ways = ("read_text", "write_text") if binary else ("read_text", "write_text", "open")
            if not said and node.func.attr in ways:
                yield f"{node.lineno}: {ast.unparse(node)}"


def test_every_text_is_read_and_written_in_an_encoding_that_is_said():
    found = [(path, line) for path in FILES for line in texts_of_unsaid_encoding(parsed(path))]
    others = ("webbrowser.open", "os.open", "archive.open", "zipfile.open")
    assert [one for one in found if not any(f"{name}(" in one[1] for name in others)] == []
    assert list(texts_of_unsaid_encoding(ast.parse("path.read_text()"))) == ["1: path.read_text()"]


#: Two commands in one process: the help, and what is typed.
PROGRAM = """
import contextlib, sys
from exactdice.cli import main
with contextlib.suppress(SystemExit):
    main(["--help"])
main(sys.argv[1:])
"""
BOTH = [sys.executable, "-c", PROGRAM]


@pytest.mark.slow  # tests/play/test_terminal.py has a pipe for ASCII
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_no_console_lacks_so_many_characters_that_a_command_fails(encoding, tmp_path):
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    drawn = ("plot", "greed-policy", "--env", "max_score", "5", "--picture", "größe日本.svg")
    done = subprocess.run([*BOTH, *drawn], cwd=tmp_path, env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Train an agent and score it exactly" in done.stdout
    assert b"\\u65e5\\u672c.svg" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["größe日本.svg"]


@pytest.mark.parametrize(("system", "mark"), [("win32", '"'), ("linux", "'")])
def test_a_command_to_copy_has_the_quotes_of_the_system(system, mark, monkeypatch):
    record = GameRecord("Greed", {}, "my runs/first", seed=1, coach=False)
    monkeypatch.setattr(sys, "platform", system)
    assert record.command == f"exactdice play Greed --against {mark}my runs/first{mark} --seed 1"
