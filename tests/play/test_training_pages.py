"""Puzzles, statistics, two persons and agents that are watched, in Chromium."""

import re

import pytest
from browsing import begin, choose, click, idle, press, wait
from exactdice.play.statistics import VARIABLE, path_of_games


@pytest.fixture(autouse=True)
def _own_file(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def visit(page, address, path):
    page.goto(address + path)
    page.wait_for_selector("#score, #statistics > *", state="attached")
    idle(page)


def play_to_the_end(page, place=-1):
    while not page.locator("#end").is_visible():
        choose(page, place)
    wait(page, ".review")


@pytest.mark.slow
def test_puzzles_are_solved_by_clicks_and_by_keys_and_the_score_counts(tabs, address):
    page = tabs(390)
    visit(page, address, "puzzles#game=Greed&of=if_else&level=easy")
    for number in range(1, 3):
        assert page.locator("#advice tr").count() == 0
        assert page.locator("#play").is_disabled()
        page.keyboard.press("Enter")  # makes no move
        choose(page)
        words = page.inner_text("#verdict")
        assert re.match(r"Best|Blunder: gives away", words)
        assert f" of {number} solved; " in words
        assert "Rules of thumb" in words
        assert page.locator("#advice tr.made").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = page.locator("#next").bounding_box()
        assert box["y"] + box["height"] <= 844
        press(page, "Enter")  # the button has the focus
    assert page.locator("#verdict").is_hidden()


@pytest.mark.slow
def test_puzzles_chosen_while_others_are_found_come_next(tabs, address):
    page, asked = tabs(), []

    def hold_the_first(route):
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    page.route("**/api/puzzles", hold_the_first)
    with page.expect_request("**/api/puzzles"):
        page.goto(f"{address}puzzles?game=Greed&of=if_else&level=easy")
    page.select_option("[name=game]", "ShutTheBox")
    page.select_option("[name=of]", "random")
    page.click("#setup button.main")
    asked[0].continue_()
    wait(page, "#choices button[title^=close]")
    sent = [route.request.post_data_json for route in asked]
    assert [one["game"] for one in sent] == ["Greed", "ShutTheBox"]


def test_ones_own_costliest_moves_are_puzzles(tabs):
    page = begin(tabs(), "Greed", seed=4, sizes={"max_score": 30})
    play_to_the_end(page)
    page.click("#practise")
    wait(page)
    assert page.locator("[name=of]").input_value() == "own"
    assert "of 30" in page.inner_html("#board")
    choose(page, -1)
    assert "You have met this position." in page.inner_text("#verdict")


@pytest.mark.slow
def test_games_are_counted_once_and_their_statistics_are_shown(tabs, address):
    page = tabs()
    visit(page, address, "statistics")
    assert "No game yet" in page.inner_text("#statistics")
    page.goto(address)
    wait(page)
    begin(page, "Greed", seed=4, sizes={"max_score": 10})
    for again in ("#again", "#same"):
        play_to_the_end(page)
        click(page, again)
    play_to_the_end(page)
    with path_of_games().open("ab") as file:
        file.write(b"damage\n")
    visit(page, address, "statistics")
    rows = page.locator(".totals").first.locator("tr").all_inner_texts()
    assert rows[1] == "games\t2"  # the same dice do not count
    ended = page.locator(".totals").nth(1).locator("tbody tr").first.inner_text()
    assert re.match(r".* \d+:\d\d .* against Perfect\t.*\t(won|lost|tied)$", ended)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".course .one").count() == 2
    assert "Line 3 of" in page.inner_text("#statistics")


@pytest.mark.slow
def test_two_persons_play_by_turns_each_with_a_coach_or_none(tabs, address):
    page = tabs(390)
    page.goto(f"{address}#game=Greed&against=person&max_score=30&seed=3")
    page.reload()
    wait(page)
    page.check("#coach-1")
    for place in (5, 4):
        choose(page, place)
        assert page.locator("#verdict").is_visible() == (place == 4)
    assert page.locator("#log .said").count() == 1
    assert page.inner_text("#turn") == "Now player 1"
    play_to_the_end(page, 0)
    wait(page, ".review >> nth=1")
    assert re.fullmatch(r"Player [12] wins\.", page.inner_text("#ending"))
    assert page.locator("#account .who").all_text_contents() == ["player 1", "player 2"]
    assert not path_of_games().exists()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_an_agent_is_watched_step_by_step_and_at_a_pace(tabs):
    page = tabs()
    page.select_option("[name=game]", "Greed")
    page.locator("#sizes").evaluate("details => { details.open = true }")
    page.select_option("[name=watch]", label="Club")
    page.fill("[name='env max_score']", "30")
    page.fill("[name=seed]", "3")  # with some dice the first move ends the game
    click(page, "#setup button.main")
    assert page.locator("#choices").is_hidden()
    shares = page.locator("#advice .played .number").all_inner_texts()
    assert sum(float(re.sub("[^0-9.]", "", one)) for one in shares) == pytest.approx(100, abs=0.6)
    click(page, "#step")
    assert page.locator("#log li.mine").inner_text().startswith("Club rolls")
    assert page.locator("#verdict").is_visible()
    click(page, "#unstep")
    assert page.locator("#log li").count() == 0
    page.select_option("#pace", "200")
    page.click("#run")
    wait(page, ".review")
    assert re.match("Club (wins|loses)|Club gets", page.inner_text("#ending"))
    assert not path_of_games().exists()
