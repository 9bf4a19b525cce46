"""Plots by the names of charts, for Python and for the words of the command line; the gallery."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ..agents.runs.agent import AgentOptions
from ..agents.runs.config import RunError
from ..agents.runs.folders import RESULTS, read_config
from ..agents.runs.options import task_from_options
from ..baselines import Score, as_task, score
from ..baselines.policies.door import label
from ..core import GAMES, Game, InputError, make_folder, one_of, write_file
from ..core.words import meant
from ..envs import find_game
from ..registry import RUN_CHARTS
from . import agents, charts, games, policy  # noqa: F401  all but charts register theirs
from .charts import AGENT_CHARTS, Example, Plot


def _in_order(known: Mapping[str, Any]) -> dict[str, Any]:
    """Sort charts by game; those of one game keep their order, those of other games come last."""
    order = {name: place for place, name in enumerate(GAMES)}
    return dict(sorted(known.items(), key=lambda entry: order.get(entry[1].place, len(order))))


CURVES = "curves"  # the chart that takes groups of runs, by name, and options
GAME_CHARTS = _in_order(charts.GAME_CHARTS)
EXAMPLES = _in_order(charts.EXAMPLES)
NAMES = (*GAME_CHARTS, *EXAMPLES, *AGENT_CHARTS, *RUN_CHARTS)


def list_charts() -> str:
    """List the charts by kind, one on a line: name, what follows it, and what the chart shows."""
    of_agents = {
        name: (f"AGENT{'' if each.game is Game else f' of {each.place}'}", _shows(each.draw))
        for name, each in AGENT_CHARTS.items()
    }
    kinds = {
        "Charts of a game": {name: ("", _shows(each.draw)) for name, each in GAME_CHARTS.items()},
        "Charts of an agent, which is a run folder or a policy": of_agents,
        "Charts of runs and benchmarks": {
            name: (after, _shows(resolve_name(place)))
            for name, (after, place) in RUN_CHARTS.items()
        },
        "Pictures of the gallery": {
            name: ("", " ".join(words)) for name, words in EXAMPLES.items()
        },
    }
    lines = []
    for kind, listed in kinds.items():
        begins = {f"  {name} {after}".rstrip(): what for name, (after, what) in listed.items()}
        width = max(map(len, begins))
        lines += ["", f"{kind}:", *(f"{begin:<{width}}  {what}" for begin, what in begins.items())]
    return "\n".join(lines[1:])


def _shows(draw: Callable[..., Plot]) -> str:
    """Say what a chart shows: the first line of its docstring, without the verb and the dot."""
    said = (draw.__doc__ or "").strip().partition("\n")[0]
    return said.partition(" ")[2].rstrip(".")


def make_plot(chart: str, *what: Any, env: Any = None, **options: Any) -> Plot:
    """Make the plot of a chart; the arguments are those of ``exactdice.plot``."""
    one_of("chart", chart, NAMES)
    if options and chart != CURVES:
        raise InputError(f"{', '.join(options)} must be left out: {chart} has no such option")
    if chart in RUN_CHARTS:
        return _of_runs(chart, what, env, **options)
    if chart in AGENT_CHARTS:
        return _of_agent(chart, what, env)
    if what:
        raise InputError(f"{chart} must stand alone, got {label(what[0])}")
    own = (GAME_CHARTS | EXAMPLES)[chart]
    task = task_from_options(own.place, {}) if env is None else as_task(env)
    if isinstance(own, Example):
        _require(chart, own.place, find_game(own.place), task.game)
        return _of_agent(own.chart, (own.policy,), task)
    _require(chart, own.place, own.game, task.game)
    return own.draw(task)


def _require(chart: str, place: str, wanted: type[Game], game: Game) -> None:
    if not isinstance(game, wanted):
        raise InputError(f"game must be {place} for {chart}, got {game.name}")


def _of_agent(name: str, what: tuple[Any, ...], env: Any) -> Plot:
    if len(what) != 1:
        wanted = f'plot("{name}", score), or plot("{name}", policy, env=env)'
        raise InputError(f"{name} must be of a score or one policy, {wanted}, got {len(what)}")
    (agent,) = what
    if isinstance(agent, Score):
        if env is not None:
            raise InputError("env must be left out, as a score has its own")
        scored = agent
    elif env is None:
        raise InputError(f"env must be given for {name} of a policy, got None")
    else:
        scored = score(agent, env)
    chart = AGENT_CHARTS[name]
    _require(name, chart.place, chart.game, scored.task.game)
    return chart.draw(scored)


def _of_runs(name: str, what: tuple[Any, ...], env: Any, **options: Any) -> Plot:
    if env is not None:
        raise InputError(f"env must be left out, as {name} has its own game")
    if name == CURVES:
        groups = what[0] if len(what) == 1 and isinstance(what[0], Mapping) else what
        drawn: Plot = resolve_name(RUN_CHARTS[name][1])(groups, **options)
        return drawn
    (after, place), folders = RUN_CHARTS[name], [Path(folder) for folder in what]
    several = "..." in after
    if not folders or (len(folders) > 1 and not several):
        wanted = "run folders" if several else "a folder"
        got = " ".join(map(str, folders)) or "none"
        raise InputError(f"{name} must be followed by {wanted}, got {got}")
    for folder in folders:
        if not folder.is_dir():
            raise RunError(f"{name} must be followed by a folder, got {folder}")
    return resolve_name(place)(folders if several else folders[0])


def picture(
    words: Sequence[str], env: Mapping[str, int | str] | None = None, **options: str
) -> Plot:
    """Make the plot that the words of a command name, of a game with keywords; or of curves.

    Words are the name of a chart and its agent with its game, its runs or its folder; the name of a
    picture of the gallery; or run folders, for their learning curves.
    """
    name, *others = words
    if own := GAME_CHARTS.get(name) or EXAMPLES.get(name):
        return make_plot(name, *others, env=task_from_options(own.place, dict(env or {})))
    if name in AGENT_CHARTS:
        if not 1 <= len(others) <= 2:
            got = " ".join(others) or "nothing"
            raise InputError(f"{name} must be followed by a run folder or a policy, got {got}")
        agent = AgentOptions(others[0], others[1] if others[1:] else None, dict(env or {}))
        return make_plot(name, agent.score(label(Path(agent.policy))))
    unknown = [word for word in words if not Path(word).is_dir()]
    if name not in RUN_CHARTS and unknown and not Path(name).is_dir():
        known = ", ".join(NAMES)
        raise InputError(
            f"what must be run folders, gallery or one of {known}, got {unknown[0]!r}"
            + meant(unknown[0], NAMES)
        )
    AgentOptions.refuse("a picture of runs", env=env or {})
    chart = words if name in RUN_CHARTS else ("learning", *words)
    return make_plot(*chart, **options)


def write_gallery(folder: Path, words: Sequence[str], only: str | None = None) -> list[Path]:
    """Draw every picture into a folder, and write a page beside it, <folder>.md, that shows them.

    Words are run folders, whose mistakes and critics are drawn; or the folder of a benchmark, whose
    leaderboard is drawn, and the learning curves of its first seeds. With ``only``, the picture of
    this name is drawn, and the page left as it is.
    """
    from .drawing import draw  # needs matplotlib

    if folder.name in ("", ".."):
        raise InputError(f"folder must have a name, which its page gets too, got {folder}")
    wanted = dict(_wanted(words))  # wrong words are found before anything is drawn
    if only is not None:
        wanted = {only: wanted[one_of("only", only, list(wanted))]}
    make_folder(folder)
    page = (
        "# Gallery\n\nEvery number in these pictures is computed exactly. Each says what it shows "
        "and the command that draws it; `exactdice plot gallery` draws them all.\n"
    )
    written = []
    for name, chart in wanted.items():
        shown, path = picture(chart), folder / f"{name}.png"
        draw(shown, path)
        written.append(path)
        page += (
            f"\n## {shown.title}\n\n![{shown.title}]({folder.name}/{path.name})\n\n"
            f"{shown.caption} `exactdice plot {' '.join(chart)} --picture {path.name}`\n"
        )
    if only is None:
        write_file(folder.with_name(f"{folder.name}.md"), page.encode())
    return written


def _wanted(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """List the pictures: name, and words of the command that draws it."""
    for name in GAME_CHARTS:
        yield name, (name,)
    yield from EXAMPLES.items()
    for word in words:
        folder = Path(word)
        if (folder / "config.json").is_file():
            kind = find_game(read_config(folder).game)
            own = [
                key
                for key, one in AGENT_CHARTS.items()
                if one.game is not Game and issubclass(kind, one.game)
            ]
            for chart in ("mistakes", *own, "critic"):
                yield f"{chart}-{folder.name}", (chart, word)
        elif (folder / RESULTS).is_file():
            yield "leaderboard", ("leaderboard", word)
            yield "learning", ("learning", word)
        else:
            raise InputError(f"gallery must be followed by folders of runs, got {word!r}")
