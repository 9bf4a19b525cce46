"""Make the page of results of every track: ``python docs/tracks.py``.

The tables are the first and the third of ``benchmarks/<track>/leaderboard.md``, which are made anew
from the runs (but for self-play, where the cross table needs the models), without their seconds,
which were measured under different loads; ``benchmarks/costs.csv`` has what a run costs. The
picture is that of ``exactdice plot track``. README gets the first columns of a table.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path

from exactdice.agents.algorithms import ALGORITHMS
from exactdice.board.leaderboard import write
from exactdice.board.pictures import track
from exactdice.board.results import read_results
from exactdice.board.tracks import TRACKS
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
    "two algorithms. TRPO trains without masks, too.",
    "exactdice-100k": (
        "PPO and A2C stand there with masks and without, TRPO without: no agent without masks "
        "learns Shut the Box. A second search for DQN, of 12 trials with wider ranges and weight "
        "decay, found nothing better (`benchmarks/searches/exactdice-100k-dqn.csv`)."
    ),
    "exactdice-1m": "The planner is the best agent in Shut the Box and 421. It knows too little of "
    "Greed, with up to 30 actions in a state, and of the matches, with millions of states. n-step "
    "DQN has the values of exactdice-100k, with ten times the moves, the memory and the moves "
    "between two renewals of its target, QR-DQN those of DQN here and 32 quantiles: neither has a "
    "search of its own, and both have three seeds a game.",
    "exactdice-grid": "MiniGrid shows an image of the cells before the agent, toy text the number "
    "of a state: Q-learning and the planner have toy text alone, by a call of their own with "
    "`--games gym:FrozenLake-v1 gym:FrozenLake8x8-v1 gym:CliffWalking-v1 gym:Taxi-v4`. Targets "
    "over three moves carry a rare reward back: n-step DQN finds the way through SimpleCrossing in "
    "all five runs, the other networks in five of fifteen, and it alone carries passengers in "
    "Taxi, where the others learn to lose no points. Eleven trials for PPO and nine for DQN found "
    "nothing better than their first sets, made by hand; QR-DQN and n-step DQN have those of DQN, "
    "and the tables were searched in toy text.",
    "exactdice-selfplay-1m": "The folder has every run with its curve, but not the models, from "
    "which the cross table was made.",
}
#: The tables of a board that its page leaves out, by whether the track is one of self-play.
MORE = {
    False: "how probably a run of one agent scores higher than a run of another, with intervals; "
    "nines, moves to 0.9 and 0.99, regret and flawless games in each game; and the policies of the "
    "sources",
    True: "exploitability and the values of both seats in each game, and who beats whom",
}


def main() -> None:
    """Write all pages, their pictures, the table of README, and the description of the data."""
    import croissant  # a neighbour of this program

    for name, each in TRACKS.items():
        if not each.self_play:
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
    title, _, first, _, scores, *_ = parts_of(name)
    runs = read_results(FOLDERS / name)
    algorithms = dict.fromkeys(run.algorithm for run in runs)
    seeds = 1 + max(run.seed for run in runs)
    folder = f"../benchmarks/{name}"
    text = [
        f"{title}: results",
        f"All {len(runs)} runs, by the [rules](benchmark.md#rules-version-2), which say "
        "what the columns are. They come from",
        f"```sh\nexactdice benchmark --track {name} --folder benchmarks/{name} --seeds {seeds} \\\n"
        f"    --algorithms {' '.join(algorithms)}\n```",
        without(first, "games", "seconds"),
        f"![The mean over games of the nines, over the moves]({name}.png)",
        NOTES[name],
        f"## The mean score in each game\n\n{scores}",
        *costs(name),
        f"## More tables\n\n[The board of the runs]({folder}/leaderboard.md) has "
        f"{MORE[TRACKS[name].self_play]}; [results.csv]({folder}/results.csv) has every run. "
        "`python docs/tracks.py` makes this page from them.",
    ]
    return "\n\n".join(text) + "\n"


def costs(name: str) -> list[str]:
    """Write what a run of each agent of a track costs; nothing if it was not measured."""
    with (FOLDERS / "costs.csv").open(newline="", encoding="utf-8") as file:
        measured = [row for row in csv.DictReader(file) if row["track"] == name]
    rows = []
    for algorithm in dict.fromkeys(row["algorithm"] for row in measured):
        mine = [row for row in measured if row["algorithm"] == algorithm]
        seconds = sum(float(row["processor_seconds"]) for row in mine)
        steps = max(int(row["gradient_steps"]) for row in mine)
        rows.append([ALGORITHMS[algorithm].title, f"{steps:,}", round(seconds, 1)])
    if not rows:
        return []
    rows.sort(key=lambda row: row[2])
    words = (
        "Gradient steps in a game, and seconds of one core for a run in each of the games, without "
        f"exact scores, by `python benchmarks/costs.py {name}`; `benchmarks/costs.csv` has all."
    )
    if TRACKS[name].moves > 100_000:
        words += " A network was measured over its first 100,000 moves, and its numbers multiplied."
    table = Table(["agent", "gradient steps", "seconds in all games"], rows)
    return ["## The cost of a run", words, table.markdown(aligned=True)]


def chosen(table: str, wanted: Callable[[str], bool]) -> list[list[str]]:
    """Return the cells of a table in Markdown, in the columns whose names are wanted."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()]
    places = [place for place, name in enumerate(rows[0]) if wanted(name)]
    return [[row[place] for place in places] for row in rows]


def without(table: str, *left: str) -> str:
    """Leave columns out of a table in Markdown."""
    header, rules, *rows = chosen(table, lambda name: name not in left)
    texts = sum(not rule.endswith(":") for rule in rules)
    return Table(header, rows, texts=texts).markdown(aligned=True)


def short() -> str:
    """Write the table of README."""
    rows = chosen(parts_of(SHOWN)[2], COLUMNS.__contains__)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main()
