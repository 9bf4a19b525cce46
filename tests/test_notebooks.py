"""The notebooks: each runs as it stands, and shows today what is kept in it."""

import re
from runpy import run_path

import nbformat
import pytest
from checkout import ROOT

FOLDER = ROOT / "docs/notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 80_000  # characters of a picture


def cells(book, kind):
    return [cell for cell in book.cells if cell.cell_type == kind]


def printed(book):
    every = [cell.outputs for cell in cells(book, "code")]
    return ["".join(one.text for one in each if one.output_type == "stream") for each in every]


def pictures(book):
    """List the pictures of each cell, as text in base 64."""
    every = [[one.get("data", {}) for one in cell.outputs] for cell in cells(book, "code")]
    return [[data["image/png"] for data in each if "image/png" in data] for each in every]


def numbers(text):
    """Find the numbers, of which a name such as stable-baselines3 has none."""
    return set(re.findall(r"(?<!\w)\d(?:[\d,.]*\d)?", text))


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def book(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.slow  # test_docs.py finds names that are gone, the tests below what is not kept
# On Windows zmq says that it works round what the event loop there lacks, which is no fault.
@pytest.mark.filterwarnings("ignore:Proactor event loop does not implement:RuntimeWarning")
def test_it_runs_and_shows_what_is_kept_in_it(path, book, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    before = sorted(FOLDER.iterdir())
    now = run_path(str(FOLDER / "run.py"))["executed"](path)
    assert printed(now) == printed(book)
    assert [len(made) for made in pictures(now)] == [len(kept) for kept in pictures(book)]
    assert sorted(FOLDER.iterdir()) == before


def test_every_cell_was_run_once_in_order_without_a_complaint(book):
    code = cells(book, "code")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        for output in cell.outputs:
            assert output.output_type in ("stream", "display_data", "execute_result"), output
            assert output.get("name", "stdout") == "stdout", output


def test_every_number_of_its_texts_is_printed(book):
    texts = "\n".join(cell.source for cell in cells(book, "markdown"))
    words = re.sub(r"\]\([^)]*\)|`[^`]*`", "", texts)  # without addresses and code
    assert numbers(words) <= numbers("\n".join(printed(book)))


def test_its_pictures_are_there_and_small(book):
    sizes = [len(picture) for made in pictures(book) for picture in made]
    assert len(sizes) >= 2
    assert max(sizes) < LARGEST
