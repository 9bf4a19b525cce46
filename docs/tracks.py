"""Make the page of results of every track: ``python docs/tracks.py``.

The tables are those of ``benchmarks/<track>/leaderboard.md``, which are made anew from the runs
(but for self-play, where the cross table needs the models), without their seconds, which were
measured under different loads; ``benchmarks/costs.csv`` has what a run costs. The picture is that
of ``exactdice plot track``. README gets the first columns of a table.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path

from exactdice.agents.algorithms import ALGORITHMS
from exactdice.board.leaderboard import write
from exactdice.board.pictures import track
from exactdice.board.results import read_results
from exactdice.board.tracks import OPEN, TRACKS
from exactdice.core import Table
from exactdice.look.drawing import draw

DOCS = Path(__file__).parent
FOLDERS = DOCS.parent / "benchmarks"
README = DOCS.parent / "README.md"
#: The track of README, and the columns there.
SHOWN = "exactdice-100k"
COLUMNS = ("agent", "rank", "nines", "95 % interval", "IQM", "95 % interval of the IQM")
NOTES = {
    "exactdice-10k": "PPO and A2C stand there with masks and without: an agent without masks must "
    "also learn which actions are legal, and the masks are worth more than the choice between the "
    "two algorithms. TRPO trains without masks, too. ",
    "exactdice-100k": (
        "PPO and A2C stand there with masks and without, TRPO without: no agent without masks "
        "learns Shut the Box. DQN's best values lay at the edge of their ranges, so a second "
        "search of 12 trials had wider ones (networks of 512 units, batches of 1,024, half as many "
        "updates) and weight decay by AdamW: none of its trials went past the row's "
        "hyperparameters, the nearest one with 512 units and a decay of 0.0003 "
        "(`benchmarks/searches/exactdice-100k-dqn.csv`). "
    ),
    "exactdice-1m": "The planner is the best agent in Shut the Box and 421. It knows too little of "
    "Greed, with up to 30 actions in a state, and of the matches, with millions of states. n-step "
    "DQN has the values of exactdice-100k, with ten times the moves, the memory and the moves "
    "between two renewals of its target, QR-DQN those of DQN here and 32 quantiles: neither has a "
    "search of its own, and both have three seeds a game. ",
    "exactdice-selfplay-1m": "The folder has every run with its curve, but not the models, from "
    "which the cross table was made. ",
}
NOTE = (
    "The searches of version 1 chose the hyperparameters by the mean of the nines of single runs, "
    "and kept no trials; `benchmarks/searches` has the trials of later ones. Equal trials are not "
    "equal compute."
)
#: What the boards say of their seconds.
SECONDS = "; seconds are those of one run, its exact scores included"
HEADINGS = {
    "| better than": "Which agent is better\n\nThe probability that a run of the row scores higher "
    "than a run of the column in a game (Agarwal et al. 2021): the mean over games, and its 95 % "
    "interval over games and seeds.",
    "| normalised score": "The mean score in each game",
    "| game | agent": "Each game",
    "The policies of the sources": "References",
    "| game | payoff of": "Who beats whom",
}


def main() -> None:
    """Write all pages, their pictures, the table of README, and the description of the data."""
    import croissant  # a neighbour of this program

    for name in OPEN:
        write(FOLDERS / name)
    croissant.main()
    for name in NOTES:
        (DOCS / f"{name}.md").write_text(page(name), encoding="utf-8")
        draw(track(FOLDERS / name), DOCS / f"{name}.png")
    old = README.read_text(encoding="utf-8")
    README.write_text(re.sub(r"\| agent \|.*?\n\n", f"{short()}\n\n", old, flags=re.S))


def parts_of(name: str) -> list[str]:
    """Return the parts of a board in Markdown: title, words, and tables."""
    return (FOLDERS / name / "leaderboard.md").read_text(encoding="utf-8").strip().split("\n\n")


def page(name: str) -> str:
    """Write the page of a track."""
    title, words, first, *others = parts_of(name)
    runs = read_results(FOLDERS / name)
    algorithms = dict.fromkeys(run.algorithm for run in runs)
    seeds = 1 + max(run.seed for run in runs)
    text = [
        f"{title}: results",
        f"All {len(runs)} runs, by the [rules of the benchmark](benchmark.md). They come from",
        f"```sh\nexactdice benchmark --track {name} --folder benchmarks/{name} --seeds {seeds} \\\n"
        f"    --algorithms {' '.join(algorithms)}\n```",
        timeless(first),
        f"![The mean over games of the nines, over the moves]({name}.png)",
        words.replace(SECONDS, ""),
        f"{NOTES[name]}{NOTE}",
    ]
    for part in others:
        plain = re.sub(" +", " ", part)
        text += [f"## {words}" for begin, words in HEADINGS.items() if plain.startswith(begin)]
        text.append(timeless(part))
    text += costs(name)
    made = "`python docs/tracks.py` makes this page from the files in "
    return "\n\n".join([*text, f"{made}`benchmarks/{name}`."]) + "\n"


def costs(name: str) -> list[str]:
    """Write what a run of each agent of a track costs; nothing if it was not measured."""
    with (FOLDERS / "costs.csv").open(newline="", encoding="utf-8") as file:
        measured = [row for row in csv.DictReader(file) if row["track"] == name]
    games, rows = TRACKS[name].games, []
    for algorithm in dict.fromkeys(row["algorithm"] for row in measured):
        mine = {row["game"]: row for row in measured if row["algorithm"] == algorithm}
        seconds = [float(mine[game]["processor_seconds"]) for game in games]
        steps = max(int(row["gradient_steps"]) for row in mine.values())
        rows.append([ALGORITHMS[algorithm].title, f"{steps:,}", *seconds])
    if not rows:
        return []
    rows.sort(key=lambda row: sum(row[2:]))
    words = (
        "Gradient steps, and seconds of one core in each game, without exact scores: one run each, "
        f"measured in one go by `python benchmarks/costs.py {name}`."
    )
    if TRACKS[name].moves > 100_000:
        words += " A network was measured over its first 100,000 moves, and its numbers multiplied."
    return [
        "## The cost of a run",
        words,
        Table(["agent", "gradient steps", *games], rows).markdown(aligned=True),
    ]


def chosen(table: str, wanted: Callable[[str], bool]) -> list[list[str]]:
    """Return the cells of a table in Markdown, in the columns whose names are wanted."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()]
    places = [place for place, name in enumerate(rows[0]) if wanted(name)]
    return [[row[place] for place in places] for row in rows]


def timeless(table: str) -> str:
    """Leave the seconds out of a table in Markdown."""
    if "| seconds |" not in re.sub(" +", " ", table):
        return table
    header, rules, *rows = chosen(table, lambda name: name != "seconds")
    texts = sum(not rule.endswith(":") for rule in rules)
    return Table(header, rows, texts=texts).markdown(aligned=True)


def short() -> str:
    """Write the table of README."""
    rows = chosen(parts_of(SHOWN)[2], COLUMNS.__contains__)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
