"""What people see of a game: a text, a picture, a film, a window."""

import sys
import xml.etree.ElementTree as ET
from itertools import pairwise, product

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import make_task
from exactdice.core.dice import dice_with_sum
from exactdice.core.playing import Played
from exactdice.envs.drawing.painting import Renderer, to_pixels, to_svg
from exactdice.envs.drawing.picture import LINE, NARROW, WIDE, Box, Disc, Text, colour, picture_of
from exactdice.envs.drawing.scene import event_of, names_of, scene_at
from exactdice.games import GAMES, present
from exactdice.play.session import Session
from gymnasium.wrappers import RecordVideo
from small_games import SIZED, SMALL
from thinning import at_once, later, one_of_each

import exactdice  # noqa: F401  registers the environments

#: The default size of one game is large.
DEFAULT = pytest.mark.parametrize("name", at_once("FourTwoOneMatch".__ne__, SMALL))


def make(name, **keywords):
    players = GAMES[name]().num_players
    opponents = {GAMES[name].opponent_keyword: "random"} if players > 1 else {}
    return gym.make(f"exactdice/{name}-v0", **opponents, **keywords)


def play(env, seed, steps=1000):
    """Play at random from a seed; give what is rendered after each move, and how it ended."""
    _, info = env.reset(seed=seed)
    rng, shown, over = np.random.default_rng(seed), [env.render()], False
    while not over and len(shown) <= steps:
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        _, _, over, _, info = env.step(action)
        shown.append(env.render())
    return shown, info


def frame(shape):
    """Give the corners of a shape; words are about as wide as this."""
    if isinstance(shape, Disc):
        x, y, r = shape.x, shape.y, shape.radius
        return x - r, y - r, x + r, y + r
    if isinstance(shape, Box):
        return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    width = 0.55 * shape.size * len(shape.words)
    left = shape.x - {"start": 0, "middle": 0.5, "end": 1}[shape.anchor] * width
    return left, shape.y - shape.size / 2, left + width, shape.y + shape.size / 2


@DEFAULT
def test_pixels_are_a_fresh_picture_of_600_by_400_that_moves_with_the_game(name):
    env = make(name, render_mode="rgb_array")
    shown, _ = play(env, 0, 2)
    assert {picture.shape for picture in shown} == {(400, 600, 3)}
    assert {picture.dtype for picture in shown} == {np.dtype(np.uint8)}
    assert not any(np.array_equal(*pair) for pair in pairwise(shown))
    env.render()[:] = 0
    assert env.render().any()


@DEFAULT
def test_a_text_tells_every_move_and_then_where_the_game_stands(name):
    for seed in range(2):
        env = make(name, render_mode="ansi", encoding="integer" if seed else "one_hot_float")
        shown, info = play(env, seed)
        lines = [text.split("\n") for text in shown]
        assert all(text[-1].startswith("agent, ") for text in lines[:-1])
        assert all(text[0].startswith("agent, ") for text in lines[1:])
        ends = {0.0: "agent loses", 1.0: "agent wins"}
        game = env.unwrapped.task.game
        named = game.num_players > 1 and info["outcome"] in ends
        end = ends[info["outcome"]] if named else f"agent gets {info['outcome']:g}"
        assert lines[-1][-1] == f"game over: {end}"
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmin()))
    assert info["action_mask"].all() or env.render() == "game over: illegal move"


def test_moves_of_the_others_are_seen_in_their_order_in_a_window_one_by_one(monkeypatch):
    shown = []
    monkeypatch.setattr(Renderer, "_show", lambda self, picture: shown.append(picture))
    texts, window = (
        gym.make("exactdice/LowestScore-v0", seat=2, opponents="random", render_mode=mode)
        for mode in ("ansi", "human")
    )
    for seed in range(5):
        texts.reset(seed=seed)
        who = [line.partition(",")[0] for line in texts.render().split("\n")]
        assert who == [*sorted(who[:-1]), "agent"]
        assert set(who) == {"player 1", "player 2", "agent"}
        shown.clear()
        window.reset(seed=seed)
        assert len(shown) == len(who)
    assert window.render() is None
    window.close()


@pytest.mark.parametrize("most", [4, later(8)])
@pytest.mark.parametrize(("name", "sizes"), one_of_each(lambda case: case[0], SIZED))
def test_every_position_and_move_fits_the_page_and_both_painters(name, sizes, most):
    game = GAMES[name](**sizes)
    names = names_of(make_task(name, 0, **sizes))
    for seat, states in game.stages():
        for state in states[:: max(1, len(states) // most)].tolist():
            legal = np.flatnonzero(game.mask(np.array([state]))[0])
            for action, page in product(legal[:3].tolist(), (WIDE, NARROW)):
                event = event_of(game, Played(seat, state, action, action), names)
                scene = scene_at(game, seat, state, names, [event] * 3, action)
                picture = picture_of(scene, page)
                for shape in picture.shapes:
                    left, top, right, bottom = frame(shape)
                    assert min(left, top) >= 0, shape
                    assert right <= page.width, shape
                    assert bottom <= page.height, shape
            root = ET.fromstring(to_svg(picture, scene.words))
            assert len(root) == len(picture.shapes)
            written = {element.text for element in root if element.tag.endswith("text")}
            assert written == {shape.words for shape in picture.shapes if isinstance(shape, Text)}
    assert to_pixels(picture).shape == (page.height, page.width, 3)


@pytest.mark.parametrize(("name", "sizes"), SIZED)
def test_a_move_takes_pieces_that_are_on_the_table_and_no_two_take_the_same(name, sizes):
    game = GAMES[name](**sizes)
    players = [f"player {i}" for i in range(game.num_players)]
    for seat, states in game.stages():
        for state in states.tolist():
            seen = game.observe(np.array([state]), seat)[0]
            rows = present(game).board(seat, seen, players)
            parts = [getattr(piece, "part", None) for row in rows for piece in row.pieces]
            parts = [part for part in parts if part is not None]
            assert len(parts) == len(set(parts))
            legal = np.flatnonzero(game.mask(np.array([state]))[0])
            taken = [present(game).parts(seen, action) for action in legal.tolist()]
            if parts:
                assert all(set(some) <= set(parts) for some in taken)
                assert len(set(taken)) == len(taken)


@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (5, 3), (12, 6)])
def test_dice_show_the_sum_that_they_are_to_show(dice, sides):
    for total in range(dice, dice * sides + 1):
        shown = dice_with_sum(total, dice, sides, 1, 2)
        faces = [die.face for die in shown]
        assert (sum(faces), len(faces)) == (total, dice)
        assert set(faces) <= set(range(1, sides + 1))
        assert dice_with_sum(total, dice, sides, 1, 2) == shown
    # Of 7 with two dice each first face is as likely; 5 standard deviations.
    first = [dice_with_sum(7, 2, 6, told)[0].face for told in range(3000)]
    counts = np.bincount(first, minlength=7)[1:]
    assert np.abs(counts - 500).max() < 5 * (3000 * 5 / 36) ** 0.5


@pytest.mark.slow
def test_films_are_recorded_and_a_window_opens_and_closes_twice(tmp_path):
    env = make("ShutTheBox", render_mode="rgb_array")
    with pytest.raises(RuntimeError, match="no game has begun: call reset before render"):
        env.unwrapped.render()
    env = RecordVideo(env, str(tmp_path / "films"), episode_trigger=lambda _: True)
    play(env, 0)
    env.close()
    (film,) = tmp_path.glob("films/*.mp4")
    assert film.stat().st_size > 1000
    env = make("Greed", render_mode="human")
    play(env, 0, 3)
    env.close()
    env.close()


def test_without_pygame_pictures_are_refused_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    message = r"mode 'rgb_array' needs more libraries \(pygame\): pip install 'exactdice\[board\]'"
    with pytest.raises(gym.error.DependencyNotInstalled, match=message):
        make("Greed", render_mode="rgb_array")


def test_greed_shows_the_dice_that_each_player_rolled_last_and_the_bust_line():
    session = Session(make_task("Greed"), 3, [4])
    events = session.scene.events
    assert [event.seat for event in events] == [0, 1]
    for page in (WIDE, NARROW):
        shapes = picture_of(session.scene, page).shapes
        pips = [shape for shape in shapes if isinstance(shape, Disc)]
        assert len(pips) == sum(die.face for event in events for die in event.dice)
        assert all(pip.y < page.height - 2 * LINE for pip in pips)  # not in the foot
        limits = [shape for shape in shapes if getattr(shape, "words", "") == "bust above 100"]
        assert len(limits) == 2
    for dice, is_bust in ((1, False), (6, True)):
        game = Session(make_task("Greed", max_score=20), 5, [dice])
        boxes = [one for one in picture_of(game.scene, NARROW).shapes if isinstance(one, Box)]
        [bar] = [box for box in boxes if box.fill == colour(0) and box.width > 4]
        line = next(box for box in boxes if box.width == 2)
        assert (bar.x + bar.width > line.x) == is_bust
