"""Tic-tac-toe in the simple form, against the perfect player or a random one.

exactdice solve examples/tic_tac_toe.py:TicTacToe                         # 0: a draw
exactdice solve examples/tic_tac_toe.py:TicTacToe --env opponent random   # 0.9948
exactdice play examples/tic_tac_toe.py:TicTacToe --web
"""

import exactdice

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(exactdice.SimpleGame):
    """The rules: a state is the nine squares as a text, an action a square from 0 to 8."""

    def start(self) -> list[tuple[int, str]]:
        """Begin with an empty board."""
        return [(1, "." * 9)]

    def player(self, state: str) -> int:
        """Say whose turn it is: X begins."""
        return (9 - state.count(".")) % 2

    def actions(self, state: str) -> list[int]:
        """Take an empty square."""
        return [square for square, mark in enumerate(state) if mark == "."]

    def outcomes(self, state: str, action: int) -> list[tuple[int, int, str | None]]:
        """Put the mark: three in a row win, a full board is a draw."""
        board = state[:action] + "XO"[self.player(state)] + state[action + 1 :]
        won = any(board[a] == board[b] == board[c] != "." for a, b, c in LINES)
        return [(1, int(won), None if won or "." not in board else board)]


exactdice.register(TicTacToe)
