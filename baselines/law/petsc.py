"""Laws in files that solvers of clusters read, piece by piece: PETSc's binary form of matrices.

``P.bin`` has the probabilities, a sparse matrix (state * actions + action, state), and ``g.bin``
the rewards, (state, action), as madupite reads them (Gargiani et al. 2024, *madupite: A
High-Performance Distributed Solver for Large-Scale Markov Decision Processes*). A file has four
integers, the mark of a matrix, its rows, columns and entries; then the number of entries of each
row; then their columns; then their values. All are big-endian, integers of 32 bits (the manual page
of ``MatLoad``).
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from ...core import Array, FloatArray, Game, InputError, make_folder, write_file
from ...core.block_moves import in_a_row, sums
from ...core.errors import needing
from .explicit import ExplicitGame, cell_name
from .listing import MOST_OFF

#: The marks of a matrix and of a vector.
MATRIX, VECTOR = 1211216, 1211214
WHOLE, REAL = np.dtype(">i4"), np.dtype(">f8")
#: Outcomes of a piece, about.
PIECE = 2**22


def write_law(law: Any, folder: Path | str) -> None:
    """Write a law into a folder, as ``P.bin`` and ``g.bin``.

    Args:
        law: a task of one player without a limit of moves whose law is listed, or pieces of a law
            in the order of the states: pairs of a SciPy matrix of probabilities (state of the piece
            * actions + action, state) and rewards (state of the piece, action). In a game that ends
            the end is one more state, the last; an illegal action is written as the first legal one
            of its state.
        folder: where to write; a law that is there already is not written over.

    Raises:
        InputError: if the law has another form, or too many entries for integers of 32 bits.
    """
    game = getattr(law, "game", law)
    pieces: Iterable[Any] = _pieces_of(game) if isinstance(game, Game) else law
    places = [Path(folder) / name for name in ("P.bin", "g.bin")]
    make_folder(Path(folder))
    if found := [str(place) for place in places if place.exists()]:
        raise InputError(f"folder must be without a law, got {found[0]}")
    with needing("a law in files", "scipy"):
        from scipy.sparse import csr_array
    with ExitStack() as stack:
        chances, rewards = (stack.enter_context(_Writer(place)) for place in places)
        for matrix, paid in pieces:
            chances.add(csr_array(matrix))
            rewards.add(csr_array(np.atleast_2d(paid)))
        chances.close()
        rewards.close()


class _Writer(ExitStack):
    """Writes a matrix row by row: its three parts beside, as their sizes come before them."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._place, self._rows, self._columns, self._entries = place, 0, 0, 0
        kept = (TemporaryFile(dir=place.parent) for _ in range(3))  # noqa: SIM115
        self._parts = [self.enter_context(part) for part in kept]

    def add(self, matrix: Any) -> None:
        """Add rows, of SciPy; processes of PETSc would lose all but one entry of a place."""
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self._rows, self._columns = self._rows + matrix.shape[0], matrix.shape[1]
        self._entries += matrix.nnz
        if max(self._rows, self._columns, self._entries) >= 2**31:
            raise InputError(f"a law must have fewer than 2^31 entries, got {self._entries:,} ...")
        columns = np.diff(matrix.indptr), matrix.indices, matrix.data
        for part, column, kind in zip(self._parts, columns, (WHOLE, WHOLE, REAL), strict=True):
            part.write(column.astype(kind).tobytes())

    def close(self) -> None:
        """Put the parts together into the file."""
        write_file(self._place, self._content())

    def _content(self) -> Iterator[bytes]:
        head = MATRIX, self._rows, self._columns, self._entries
        yield np.array(head, dtype=WHOLE).tobytes()
        for part in self._parts:
            part.seek(0)
            yield from iter(partial(part.read, 2**24), b"")


def _pieces_of(game: Game) -> Iterator[tuple[Any, FloatArray]]:
    """List the pieces of a game's law."""
    from scipy.sparse import csr_array

    if not isinstance(game, ExplicitGame) or (game.num_states, game.num_players) != (game.rows, 1):
        raise InputError(f"law must be listed, of one player, without a horizon, got {game!r}")
    listing, count = game.listing, game.rows
    ends = bool((listing.targets < 0).any())
    step = max(1, PIECE * count // len(listing.targets))
    for first in range(0, count, step):
        legal = listing.legal[first : first + step]
        rows = np.arange(first, first + len(legal))[:, None] * game.num_actions
        actions = np.where(legal, np.arange(game.num_actions), legal.argmax(axis=1)[:, None])
        cells = (rows + actions).ravel()
        ways, firsts = in_a_row(listing.firsts, cells), sums(listing.counts.ravel()[cells])
        targets = np.where(listing.targets[ways] < 0, count, listing.targets[ways])
        chances = game.way_chances[ways]
        paid = np.add.reduceat(chances * game.way_payments[ways], firsts[:-1])
        shape = len(cells), count + ends
        yield csr_array((chances, targets, firsts), shape=shape), paid.reshape(legal.shape)
    if ends:
        stays = np.full(game.num_actions, count), np.arange(game.num_actions + 1)
        stay = csr_array((np.ones(game.num_actions), *stays), shape=(game.num_actions, count + 1))
        yield stay, np.zeros((1, game.num_actions))


class _Reader:
    """Reads a matrix row by row."""

    def __init__(self, place: Path) -> None:
        self._place = place
        head = self._read(WHOLE, 0, 4)
        self.rows, self.columns, self.entries = (int(each) for each in head[1:])
        size = 16 + 4 * self.rows + 12 * self.entries
        if head[0] != MATRIX or place.stat().st_size != size:
            raise InputError(f"{place} must be a whole matrix of PETSc, with integers of 32 bits")
        self._begun = 0  # entries of the rows that were read

    def _read(self, kind: Any, begin: int, count: int) -> Array:
        found = np.fromfile(self._place, kind, count, offset=begin)
        if len(found) < count:
            raise InputError(f"{self._place} must be a whole matrix of PETSc, and ends early")
        return found.astype(kind.newbyteorder("="))

    def read(self, first: int, after: int) -> Any:
        """Read rows, which follow on the last ones, as a matrix of SciPy."""
        from scipy.sparse import csr_array

        self._begun = self._begun if first else 0
        lengths = self._read(WHOLE, 16 + 4 * first, after - first)
        firsts = sums(lengths)
        count, begin = int(firsts[-1]), 16 + 4 * self.rows
        if lengths.min() < 0:
            raise InputError(f"{self._place} must have rows of 0 or more entries")
        columns = self._read(WHOLE, begin + 4 * self._begun, count)
        values = self._read(REAL, begin + 4 * self.entries + 8 * self._begun, count)
        self._begun += count
        inside = (columns >= 0) & (columns < self.columns)
        if not inside.all() or self._begun > self.entries:
            raise InputError(f"{self._place} must have columns below {self.columns:,} in its rows")
        return csr_array((values, columns, firsts), shape=(after - first, self.columns))


class LawFiles:
    """A law in a folder, as ``write_law`` and madupite write it.

    Attributes:
        states, actions: their numbers.
    """

    def __init__(self, folder: Path | str) -> None:
        self._chances, self._rewards = (_Reader(Path(folder) / name) for name in ("P.bin", "g.bin"))
        self.states, self.actions = self._rewards.rows, self._rewards.columns
        found = self._chances.rows, self._chances.columns
        if found != (self.states * self.actions, self.states):
            wanted = self.states * self.actions, self.states
            raise InputError(f"P.bin must be of shape {wanted}, as g.bin has it, got {found}")

    def pieces(self) -> Iterator[tuple[slice, Any, FloatArray]]:
        """Give states in a row, their probabilities, (cell, state), and rewards, (state, action).

        An ``InputError`` says that probabilities are no laws, or rewards no finite numbers.
        """
        step = max(1, PIECE * self.states // max(1, self._chances.entries))
        for first in range(0, self.states, step):
            own = slice(first, min(first + step, self.states))
            chances = self._chances.read(own.start * self.actions, own.stop * self.actions)
            rewards = self._rewards.read(own.start, own.stop).toarray()
            totals = np.asarray(chances.sum(axis=1))
            wrong = ~((np.abs(totals - 1) * MOST_OFF <= 1) & np.isfinite(rewards).ravel())
            below = np.flatnonzero(~(chances.data >= 0))
            wrong[np.searchsorted(chances.indptr, below, "right") - 1] = True
            if wrong.any():
                cell = int(np.argmax(wrong))
                raise InputError(
                    "probabilities must not be below 0 and sum to 1, and rewards be finite, got a "
                    f"sum of {totals[cell]:.10g} and {rewards.ravel()[cell]} "
                    + cell_name(first * self.actions + cell, self.actions)
                )
            yield own, chances, rewards


def read_values(place: Path | str, states: int) -> FloatArray:
    """Read the values of states, shape (state,): a vector of PETSc, or a text, one to a line."""
    head = np.fromfile(place, WHOLE, 2)
    if len(head) == 2 and head[0] == VECTOR:
        found = np.fromfile(place, REAL, offset=8).astype(np.float64)
    else:
        try:
            found = np.loadtxt(place, ndmin=1)
        except ValueError:
            found = np.zeros(0)
    if found.shape != (states,) or not np.isfinite(found).all():
        raise InputError(f"{place} must have {states} finite values, a vector of PETSc or a text")
    return found
