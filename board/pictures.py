"""Charts and pages of benchmarks: learning curves, the leaderboard, tracks, entries, ladders.

The chart of a ladder has exact scores over the exact properties of its rungs.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..agents.runs.config import RunError
from ..agents.runs.folders import RESULTS
from ..baselines import describe, make_task
from ..baselines.scoring.summary import quoted
from ..core import FloatArray, InputError, write_file
from ..envs import find_game
from ..games import DEFAULT_GAME
from ..look import page
from ..look.charts import COLOURS, Bars, Lines, Plot, Series
from ..look.runs import FLOOR, Log, colours_of, log_of
from ..look.runs import learning as of_logs
from .entry_boards import CLAIMS, EntryBoard
from .ladders import LADDERS, Ladder, find_ladder
from .leaderboard import Board, read_board
from .results import Run, read_runs
from .strata import PER_CENT, Estimate, by, by_game, estimate, mean, numbers

#: A rung counts as learned from this mean score on.
LEARNED = 0.99
#: Normalised scores of runs by agent and number of the rung.
Scores = Mapping[str, Mapping[int, list[float]]]


def learning(folders: Sequence[Path]) -> Plot:
    """Draw the exact gap to the optimum of runs over their steps.

    Sample scores have a 95 % interval. Of the folder of a benchmark the first runs of the default
    game are drawn, or of its first game if it has no runs of that one.
    """
    return of_logs([log for folder in folders for log in _logs(folder)])


def _logs(folder: Path) -> list[Log]:
    """Read the log of a run, or of the first runs of a benchmark."""
    if not (folder / RESULTS).is_file():
        return [log_of(folder)]
    runs = read_runs(folder)
    games = [run.game for run in runs]
    game = DEFAULT_GAME if DEFAULT_GAME in games else next(iter(games), None)
    if game is None:
        raise RunError(f"folder must have finished runs, got none in {folder}")
    return [
        (run.game, name, {"timesteps": np.array(run.moves), "normalized": np.array(run.scores)})
        for name, (run, *_) in by([run for run in runs if run.game == game], "agent").items()
    ]


def leaderboard(folder: Path) -> Plot:
    """Draw the mean score of every agent in every game."""
    groups = read_board(folder).groups
    if not groups:
        raise RunError(f"folder must hold finished runs, got {folder}")
    found = {key: estimate(numbers(own, "score"), mean) for key, own in groups.items()}
    middle, high, low = np.maximum(1 - np.array(list(found.values())), FLOOR / 10).T
    known = not np.isnan(low).any()  # with two seeds or more
    colours = colours_of({agent for _, agent in groups})
    panel = Bars(
        title="Exact distance to the optimum, by game and agent",
        x_label="1 - normalised score",
        labels=[f"{game}: {agent}" for game, agent in groups],
        values=middle,
        low=low if known else None,
        high=high if known else None,
        log=True,
        colours=[colours[agent] for _, agent in groups],
        words=[
            f"{sum(map(len, own))} seeds, mean normalised score {found[key].middle:.6f}"
            for key, own in groups.items()
        ],
    )
    return Plot.of(
        panel,
        f"{_nearest(found)}Mean gap to the optimum of the leaderboard's agents over seeds, one "
        "colour for each agent, with a 95 % bootstrap interval over the seeds. Further left is "
        'better, and random play is at 1; "all" are the games of every agent; gaps below '
        f"{FLOOR / 10:g} are drawn at {FLOOR / 10:g}.",
    )


def _nearest(found: Mapping[tuple[str, str], Estimate]) -> str:
    """Say which agent is nearest to the optimum in most games."""
    games: dict[str, dict[str, float]] = {}
    for (game, agent), each in found.items():
        games.setdefault(game, {})[agent] = float(each.middle)
    best = [max(own, key=own.__getitem__) for game, own in games.items() if game != "all"]
    most = max(dict.fromkeys(best), key=best.count)
    return f"{quoted(most)} is nearest to the optimum in {best.count(most)} of {len(best)} games. "


def curves(runs: Sequence[Run]) -> Plot:
    """Draw the learning curves of finished runs by game and agent: mean and range of the seeds."""
    colours = colours_of({run.agent for run in runs})
    # Runs with a single exact score, as in Yahtzee, have no curve.
    drawn = by((run for run in runs if len(run.moves) > 1), "game")
    panels = [
        Lines(
            title=game,
            x_label="agent's moves, million",
            y_label="1 - normalised score",
            series=[
                _over_seeds(agent, own, colours[agent]) for agent, own in by(group, "agent").items()
            ],
            log_y=True,
        )
        for game, group in drawn.items()
    ]
    return Plot(
        title="Learning curves",
        caption="Exact gap to the optimum, over the agent's moves: the mean of all seeds as a "
        "line, the range from the best to the worst seed as a band.",
        panels=panels,
    )


def _over_seeds(agent: str, runs: Sequence[Run], colour: int) -> Series:
    shortest = min(len(run.moves) for run in runs)
    gaps = np.maximum(1 - np.array([run.scores[:shortest] for run in runs]), FLOOR / 10)
    return _band(agent, np.array(runs[0].moves[:shortest]) / 1e6, list(gaps.T), colour)


def _band(name: str, x: FloatArray, gaps: Sequence[FloatArray], colour: int) -> Series:
    """Draw the mean of the seeds at each place as a line, and their range as a band."""
    ends = np.array([(gap.mean(), gap.min(), gap.max()) for gap in gaps])
    return Estimate(*ends.T).line(name, x, colour)


def track(folder: Path) -> Plot:
    """Draw the curves of all runs on a track."""
    board = read_board(folder)
    if board.track is None:
        raise RunError(f"folder must hold finished runs of a track, got {folder}")
    plot = track_curves(board)
    first = plot.panels[0]
    return Plot(title=f"{plot.title}: {first.title}", caption=plot.caption, panels=[first])


def track_curves(board: Board) -> Plot:
    """Draw the nines of each agent at the marks, with its bootstrap interval."""
    games, track = by_game(board.runs), board.track
    assert track is not None
    moves = "moves of both seats" if track.self_play else "agent's moves"
    panels = [_panel(group[0].game, [group], moves) for group in games]
    if len(games) > 1:
        panels.insert(0, _panel("mean of all games", games, moves))
    score = "the score is 1 - exploitability / that of uniformly random play; "
    meaning = score if track.self_play else ""
    return Plot(
        title=f"Nines of {track.title}",
        caption=f"Exact scores over the {moves}: {meaning}nines are -log10(1 - mean normalised "
        "score over seeds), 1 for a score of 0.9 and 2 for 0.99. Bands are "
        f"{PER_CENT} % bootstrap intervals that resample the seeds of each game apart.",
        panels=panels,
    )


def _panel(title: str, games: Sequence[list[Run]], moves: str) -> Lines:
    """Draw the agents that have run all of these games, by their colours."""
    agents = by((run for group in games for run in group), "agent").values()
    by_colour = map(by_game, sorted(agents, key=lambda own: own[0].colour))
    series = [_series(own) for own in by_colour if len(own) == len(games)]
    return Lines(
        title=title,
        x_label=moves,
        y_label="nines",
        series=series,
        log_x=True,
        points=True,
        direct=True,
    )


def _series(games: Sequence[list[Run]]) -> Series:
    found = estimate([np.array([run.curve[1] for run in group]) for group in games])
    first = games[0][0]
    return found.line(first.agent, np.array(first.curve[0], dtype=np.float64), first.colour)


def chart_of_entries(board: EntryBoard, colours: Mapping[str, int]) -> Plot:
    """Draw the mean nines of the entries, in the colours of algorithms, with their intervals."""
    found = [estimate(numbers(each.strata, "score")) for each in board.entries]
    middle, low, high = np.array(found).T
    bars = Bars(
        title=f"Mean nines of {board.track.title}",
        x_label="mean nines",
        labels=list(board.links),
        values=middle,
        low=low,
        high=high,
        colours=[colours[each.card.algorithm] for each in board.entries],
    )
    caption = (
        "Nines are -log10(1 - mean normalised score over seeds): 1 for 0.9, 2 for 0.99. Points are "
        f"means over games, lines {PER_CENT} % bootstrap intervals that resample the seeds of "
        "each game apart."
    )
    return Plot.of(bars, caption)


def read_ladder(folder: Path) -> tuple[Ladder, Scores]:
    """Read the finished runs in the folder of a benchmark of a ladder."""
    runs = read_runs(folder)
    if not runs:
        raise RunError(f"folder must hold finished runs, got {folder}")
    ladder = _ladder(runs)
    if ladder is None:
        raise RunError(f"folder must hold runs of one game that differ in a keyword, got {folder}")
    scores: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        rung = [rung.keywords for rung in ladder.rungs].index(run.env)
        scores.setdefault(run.agent, {}).setdefault(rung, []).append(run.normalized)
    return ladder, scores


def _ladder(runs: Sequence[Run]) -> Ladder | None:
    """Find the ladder of runs, or make it from the keyword in which they differ; None if none."""
    games = {find_game(run.place).name for run in runs}
    for ladder in LADDERS.values():
        rungs = [rung.keywords for rung in ladder.rungs]
        if games == {ladder.game} and all(run.env in rungs for run in runs):
            return ladder
    places, knobs = {run.place for run in runs}, {tuple(run.env) for run in runs}
    if len(places) > 1 or [len(knob) for knob in knobs] != [1]:
        return None
    (place,), ((knob,),) = places, knobs
    values = dict.fromkeys(str(run.env[knob]) for run in runs)
    with suppress(InputError):  # one value, or values that differ by no number
        return find_ladder([place, knob, *values])
    return None


def highest(scores: Mapping[int, list[float]]) -> int | None:
    """Find the highest rung with a mean score of ``LEARNED`` at least; None if there is none."""
    return max((rung for rung, own in scores.items() if np.mean(own) >= LEARNED), default=None)


def ladder(folder: Path) -> Plot:
    """Draw the gap to the optimum of every agent on the rungs of a ladder."""
    found, scores = read_ladder(folder)
    trained = sorted({rung for own in scores.values() for rung in own})
    rungs = [found.rungs[number] for number in trained]
    name = find_game(found.game).name
    described = [describe(make_task(name, **rung.keywords)) for rung in rungs]
    states = np.log10([task.reachable_states for task in described])
    axes: dict[str, list[float]] = {
        found.knob: [float(rung.label) for rung in rungs],
        "reachable states, logarithm of base 10": states.tolist(),
        "agent's moves in a game of optimal play": [task.moves for task in described],
        "outcome noise of optimal play (standard deviation)": [task.noise for task in described],
    }
    colours = colours_of(set(scores))
    panels = [  # on a property that all rungs share, nothing would be seen
        Lines(
            title="",  # the axis says it
            x_label=label,
            y_label="1 - normalised score (random play: 1)",
            series=[
                _line(agent, dict(zip(trained, places, strict=True)), own, colours[agent])
                for agent, own in sorted(scores.items())
            ],
            log_y=True,
            level=1 - LEARNED,
            points=True,
        )
        for label, places in axes.items()
        if label == found.knob or len(set(places)) > 1
    ]
    tops = {agent: highest(own) for agent, own in scores.items()}
    reached = ", ".join(
        f"{agent} {'none' if top is None else found.rungs[top].label}"
        for agent, top in tops.items()
    )
    return Plot(
        title=f"{found.title}: exact distance to the optimum",
        caption="Exact gap to the optimum on each rung, over the knob and over exact properties of "
        "the game: the mean of all seeds as a line, the range from the best to the worst seed as a "
        "band; as points where a property does not grow or fall with the knob. Highest "
        f"{found.knob} with a mean score of {LEARNED:g}: {reached}.",
        panels=panels,
    )


def _line(
    agent: str, places: Mapping[int, float], scores: Mapping[int, list[float]], colour: int
) -> Series:
    """Draw the rungs of an agent in the order of their places on the x axis."""
    rungs = sorted(scores, key=places.__getitem__)
    steps = np.diff([places[rung] for rung in sorted(scores)])
    gaps = [np.maximum(1 - np.array(scores[rung]), FLOOR) for rung in rungs]
    drawn = _band(agent, np.array([places[rung] for rung in rungs]), gaps, colour)
    return replace(drawn, joined=bool((steps > 0).all() or (steps < 0).all()))


def to_page(board: Board) -> str:
    """Write the page of the board of a benchmark."""
    swatches = _swatches(colours_of({run.agent for run in board.runs}))
    drawn = curves(board.runs) if board.track is None else track_curves(board)
    parts = [
        page.paragraph(board.words),
        *(page.sortable(each, swatches) for each in board.tables),
        *page.section(drawn, "curves"),
        page.heading(board.more.title),
        page.paragraph(board.more.words),
        page.sortable(board.more.table, swatches),
    ]
    return page.to_html(f"exactdice: {board.title}", parts)


def _swatches(colours: Mapping[str, int]) -> dict[str, str]:
    return {name: COLOURS[place % len(COLOURS)] for name, place in colours.items()}


def write_entries(boards: Sequence[EntryBoard], folder: Path) -> list[Path]:
    """Write the page, the Markdown and the CSV of each board of entries into a folder."""
    colours = colours_of({found.card.algorithm for board in boards for found in board.entries})
    texts = {}
    for board in boards:
        path = folder / f"{board.track.name}.html"
        texts[path] = _page_of_entries(board, colours)
        texts[path.with_suffix(".md")] = board.markdown
        texts[path.with_suffix(".csv")] = board.certificates.csv()
    for path, text in texts.items():
        write_file(path, text.encode())
    return list(texts)


def _page_of_entries(board: EntryBoard, colours: Mapping[str, int]) -> str:
    swatches = _swatches(colours)
    parts = [
        page.paragraph(CLAIMS),
        page.sortable(board.totals, swatches),
        *page.section(chart_of_entries(board, colours), "nines"),
        page.heading("Games"),
        page.sortable(board.games, swatches),
        page.heading("Where the entries come from"),
        page.links(board.links),
        page.heading("Rules"),
        page.paragraph(board.rules),
    ]
    return page.to_html(f"exactdice: {board.track.title}, entries", parts)
