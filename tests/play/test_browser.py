"""The page as people use it, in Chromium: by clicks and keys, in every game."""

import re
import socket
from pathlib import Path

import pytest
from browsing import IDLE, begin, choose, click, idle, press, serving, wait
from exactdice.play.record import GameRecord
from exactdice.play.web import make_app
from small_games import SMALL


def step(page, number=1):
    """Make a move of the list; of an even number, on the board where that can be clicked."""
    pieces = page.locator("rect.open")
    if number % 2 or not pieces.count():
        return choose(page, min(1, page.locator("#choices button").count() - 1))
    pieces.nth(number % pieces.count()).click()
    if page.locator("#play").is_enabled():
        page.click("#play")
    else:
        page.locator("#choices .fits").first.dblclick()
    return idle(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_game_is_played_by_clicks_to_an_end_that_adds_up(tabs, name):
    width = 1200 if name == "FourTwoOne" else 360
    page = begin(tabs(width), name, sizes=SMALL[name][0])
    page.check("#coach")
    moves = 0
    while not page.locator("#end").is_visible() and moves < 60:
        step(page, moves)
        moves += 1
    said = page.locator("#log .said").all_text_contents()  # nothing on moves without an alternative
    assert len(said) <= moves
    assert all(re.match("Best|Good|Inaccuracy|Mistake|Blunder|All moves", words) for words in said)
    texts = page.locator("#account .step b").all_inner_texts()
    numbers = [re.sub("[= +%]|points", "", text).replace("\N{MINUS SIGN}", "-") for text in texts]
    expected, lost, luck, payoff = (round(100 * float(number)) for number in numbers)
    assert expected + lost + luck == payoff
    assert lost <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_piece_that_is_clicked_brings_those_that_every_such_move_takes(tabs):
    page = begin(tabs(360), "LowestScore", seed=4)
    assert page.locator("#board svg").get_attribute("width") == "360"
    page.set_viewport_size({"width": 1000, "height": 700})  # has another board, clicked likewise
    page.wait_for_selector("#board svg[width='600']")
    pressed = page.locator("rect.open[aria-pressed=true]")
    for number in (3, 2):
        page.locator("rect.open").nth(2).click()
        assert pressed.count() == number
        assert page.locator("#play").is_enabled()
    words = page.inner_text("#play")
    click(page, "#play")
    assert words.partition(" ")[2] in last_of_log(page)


def last_of_log(page):
    return page.locator("#log li").first.text_content()


@pytest.mark.slow
def test_the_keyboard_suffices(tabs):
    page = tabs()
    for name in ("ShutTheBox", "Greed"):
        begin(page, name)
        assert page.locator("#choices button").count() > 1
        assert page.locator("#play").is_disabled()
        press(page, "Enter", "Enter")  # which alone make no move
        assert page.inner_text("#log") == ""
    press(page, *"93")  # there is no move 93: the second digit begins a new number
    assert page.inner_text("#play") == "roll 3 dice"
    press(page, "Enter")
    assert "3 dice" in last_of_log(page)
    begin(page, "ShutTheBox", seed=4)
    page.locator("#choices button").nth(1).hover()
    assert page.locator("rect.lit").count() == 3
    page.locator("rect.open").first.focus()
    press(page, "Enter")
    assert page.locator("rect.open[aria-pressed=true]").count() >= 1
    page.locator("#choices .fits").first.focus()
    press(page, "Enter")
    assert page.inner_text("#log") == ""
    press(page, "Enter")
    assert page.locator("#log li").count() >= 1
    press(page, "u")
    assert page.inner_text("#log") == ""
    press(page, *"92")
    assert page.inner_text("#play") == "close 2 9"
    press(page, "Enter")
    assert "close 2 9" in last_of_log(page)
    begin(page, "FourTwoOne", seed=4)
    press(page, "0")
    assert page.inner_text("#play") == "put aside nothing"
    page.locator("[name=seed]").focus()
    press(page, "u")
    assert page.inner_text("#play") == "put aside nothing"


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_words_can_be_read_on_light_and_on_dark_pages(tabs, colours):
    page = tabs()
    page.emulate_media(color_scheme=colours, reduced_motion="reduce")
    page.check("#coach")
    faint_words = Path(__file__).with_name("faint_words.js").read_text()
    for name in ("ShutTheBox", "FourTwoOne", "Yahtzee"):
        step(begin(page, name, seed=4, sizes=SMALL[name][0]))
        assert page.evaluate(faint_words) == []
    paper = page.locator("#board rect").first.evaluate("one => getComputedStyle(one).fill")
    assert (sum(map(int, re.findall(r"\d+", paper))) > 380) == (colours == "light")


@pytest.mark.slow
def test_two_tabs_are_two_games_and_a_reload_goes_on_with_ones_own(tabs):
    one, two = tabs(), tabs()
    begin(one, "ShutTheBox", seed=4)
    step(one)
    step(two)
    assert one.locator("#log .said").count() == 0
    one.check("#coach")  # which judges what was done before, too, and stays on
    idle(one)
    step(one)
    assert one.locator("#log .said").count() == 2
    first = one.inner_text("#log")
    assert first != two.inner_text("#log")
    one.reload()
    wait(one)
    assert "Shut the Box" in one.title()
    assert one.inner_text("#log") == first


@pytest.mark.slow
def test_a_game_is_looked_back_on_and_tried_again_from_its_costliest_move(tabs):
    page = begin(tabs(), "Greed", seed=4, sizes={"max_score": 100})
    for number in (5, 1, 24):  # of which the second is a blunder
        page.locator(f"#choices [data-action='{number}']").dblclick()
        idle(page)
    wait(page, "#account .review")
    end = drawn(page)
    assert re.match(r"\d+\s% accuracy", page.inner_text(".accuracy"))
    assert page.locator(".course .lost").count() == 3
    assert page.locator(".course .luck, .course .bad").count() == 3
    assert page.locator(".ticks button").all_inner_texts() == ["1", "2", "3"]
    press(page, "ArrowLeft")
    assert page.inner_text("#when") == "Before move 3 of 3"
    press(page, "Escape")
    wait(page, "#account .review")
    worst = page.locator(".worst li").first
    assert worst.inner_text().startswith("Move 2, roll 1 die. Blunder: gives away 24.1")
    worst.locator("text=Jump").click()
    idle(page)
    assert page.inner_text("#when") == "Before move 2 of 3"
    assert page.evaluate("scrollY") == 0
    assert page.inner_text("#verdict").startswith("Move 2, roll 1 die\n\nBlunder")
    click(page, "#later")
    assert page.inner_text("#when") == "Before move 3 of 3"
    page.locator("#log .told", has_text="opponent rolls").click()
    idle(page)
    assert page.inner_text("#when") == "After move 1 of 3"
    click(page, "#now")
    assert drawn(page) == end
    page.locator(".course .step").nth(1).click(force=True)
    idle(page)
    click(page, "#retry")
    assert "18 of 100" in page.inner_html("#board")
    assert page.locator("#log li.mine").count() == 1
    page.go_back()
    wait(page, "#account .review")
    assert drawn(page) == end


@pytest.mark.slow
def test_a_link_and_a_file_open_the_same_position_in_another_tab(tabs, tmp_path):
    page = begin(tabs(), "ShutTheBox", seed=4)
    step(page)
    step(page)
    before = drawn(page)
    with page.expect_download() as kept:
        page.click("#file")
    kept.value.save_as(tmp_path / "game.json")
    link = page.locator("#link").evaluate("one => one.href")
    assert "game=ShutTheBox&seed=4&moves=" in link
    other = tabs()
    other.goto(link)
    idle(other)
    wait(other, "#log li.mine")
    assert drawn(other) == before
    assert "moves" not in other.url
    begin(other, "Greed")
    other.set_input_files("#load", tmp_path / "game.json")
    idle(other)
    assert drawn(other) == before
    (tmp_path / "game.json").write_text("{}")
    other.set_input_files("#load", tmp_path / "game.json")
    idle(other)
    assert other.inner_text("#message") == "This file is no game that exactdice saved."


@pytest.mark.slow
def test_a_phone_has_the_verdict_and_the_main_button_in_sight_and_short_pages(tabs):
    page = tabs(390, 844)
    page.check("#coach")
    sizes = {"Yahtzee": SMALL["Yahtzee"][0], "Greed": {"max_score": 100}, "ShutTheBox": {}}
    sizes |= {"LowestScore": {"players": 2}, "FourTwoOneMatch": {"tokens": 2}}
    for name in sizes:
        begin(page, name, seed=4, sizes=sizes[name])
        for _ in range(2):
            if page.locator("#end").is_visible():
                break
            assert page.evaluate("document.documentElement.scrollHeight") < 1000, name
            for part in ("#play", "#verdict"):
                box = page.locator(part).bounding_box()
                assert box is None or box["y"] + box["height"] <= 844, (name, part)
            step(page)
        assert page.locator("#board").bounding_box()["height"] < 400, name
        sides = [one.bounding_box() for one in page.locator("rect.open").all()]
        if name == "Yahtzee":
            labels = [one.get_attribute("aria-label") for one in page.locator("rect.open").all()]
            assert {words.split()[0] for words in labels} <= {"keep", "take"}
            assert min(min(box["width"], box["height"]) for box in sides) >= 44
    assert page.locator("aside > details[open]").count() == 0


@pytest.mark.slow
def test_a_phone_begins_with_a_welcome_and_its_sheets_push_nothing(tabs):
    page = tabs(390, 844)
    words = "Roll as many dice as you dare: the higher score wins, unless it is above the limit."
    assert page.inner_text("#welcome span") == words
    before = page.locator("#play").bounding_box()
    sheet = page.locator("details[open] .sheet")
    for name in ("welcome", "Moves", "Coach", "More"):
        page.click("#welcome button" if name == "welcome" else f"summary:text-is('{name}')")
        box = sheet.bounding_box()
        assert box["y"] > 844 / 4
        assert 760 < box["y"] + box["height"] <= 844  # where the thumb is
        assert page.locator("#play").bounding_box() == before
    page.locator("#board").click(position={"x": 5, "y": 5})
    assert sheet.count() == 0
    click(page, "#ask")
    assert page.locator("#play").bounding_box()["y"] == before["y"]
    choose(page, 1)
    assert page.locator("#welcome").is_hidden()


@pytest.mark.slow
def test_dice_roll_and_news_are_bold_and_nothing_moves_if_motion_is_reduced(tabs):
    for motion in ("no-preference", "reduce"):
        page = begin(tabs(motion=motion), "LowestScore", sizes={"players": 1, "objective": "score"})
        page.evaluate("""() => {
          window.moved = 0;
          Element.prototype.animate = () => { window.moved += 1; };
        }""")
        choose(page)
        assert (page.evaluate("moved") > 0) == (motion == "no-preference")
        assert page.locator("#board .fresh").count() >= 1


def drawn(page):
    """Give the board as the server draws it, without what the pointer lights up."""
    return re.sub(r' class="[^"]*"', "", page.inner_html("#board"))


def test_hints_come_in_steps_and_a_move_is_graded_and_in_sight_among_the_best(tabs):
    page = begin(tabs(), "Greed", sizes={"max_score": 100})
    hints = page.locator("#verdict p")
    for number in range(3):
        assert hints.count() == number
        click(page, "#ask")
    best = page.locator("#advice tr.best th").first.inner_text()
    assert hints.count() == 3
    assert hints.last.inner_text().startswith(f"Best: {best} (")
    assert page.locator("#advice tbody tr").count() == page.locator("#choices button").count()
    page.click("#ask")
    assert page.locator("#advice tr").count() == 0
    page.check("#coach")
    choose(page, 1)
    words = page.inner_text("#verdict")
    assert re.match(r"Inaccuracy: gives away [\d.]+\s%\. Best: roll \d+ dice \(", words)
    own = page.locator("#advice tr.made")
    assert own.is_visible()
    assert "roll 1 die (yours)" in own.inner_text()
    rows = page.locator("#advice tbody tr")
    assert rows.count() == 30
    assert not rows.nth(29).is_visible()
    page.click("text=All 30 moves")
    assert rows.nth(29).is_visible()
    small, large = (rows.nth(n).locator(".bar").bounding_box()["width"] for n in (1, 29))
    assert 2 < small < large / 4  # the second best number of dice gives away 0.0004
    page.click("text=Exact numbers")
    assert re.search(r"0\.\d{4}\s+0\.\d{4}", own.inner_text())


@pytest.mark.slow
def test_the_verdict_comes_before_the_moves_of_the_others(tabs):
    page = tabs(motion="no-preference")
    page.check("#coach")
    begin(page, "LowestScore", sizes={"players": 4})
    page.locator("#choices button").last.dblclick()
    page.wait_for_selector("#verdict:not([hidden])")
    assert page.locator("body[aria-busy]").count() == 1
    assert page.inner_text("#log .said") == page.inner_text("#verdict")
    moves = page.locator("#log li").count()
    while page.locator(IDLE).count() == 0:
        page.click("#board")
    assert page.locator("#log li").count() > moves


@pytest.mark.slow
def test_the_players_to_choose_have_a_line_each_and_say_how_strong_they_are(tabs):
    page = tabs()
    page.select_option("[name=game]", "Greed")
    page.select_option("[name=against]", label="Club")
    assert page.inner_text("#about") == "Half of the way from random to perfect play."
    click(page, "#setup button.main")
    click(page, "#strength")
    words = page.inner_text("#who")
    assert words.endswith('So "Club" is 50.0 % of the way.')
    page.select_option("[name=game]", "Yahtzee")
    assert page.locator("[name=seat] option").all_inner_texts() == ["alone"]
    begin(page, "ShutTheBox", sizes={"one_die": "sum<=4"})  # which is no option of the list
    assert "add up to at most 4" in page.inner_text("#rules")


def test_what_is_refused_is_told_on_the_page_and_the_game_goes_on(tabs, address):
    page = tabs()
    board = page.inner_html("#board")
    with page.expect_response("**/api/games") as answer:
        begin(page, "Greed", sizes={"max_score": 10**7})
    assert answer.value.status == 400
    assert "400" in tabs.said.pop()  # Chromium's own
    assert page.inner_text("#message").startswith("max_score must be lower")
    assert page.inner_html("#board") == board
    begin(page, "Greed", sizes={"max_score": 12})
    assert page.locator("#message").is_hidden()
    assert "of 12" in page.inner_html("#board")
    page.goto("about:blank")
    page.goto(f"{address}?game=Greed&max_score=12&seed=3&moves=2.x")
    wait(page)
    assert "moves must be a whole number, got 'x'" in page.inner_text("#message")
    assert "400" in tabs.said.pop()
    page.goto(f"{address}#gone")  # a game that is not kept is followed by a new one
    wait(page)
    said = "the server has been started again. This is a new one."
    assert page.inner_text("#message").endswith(said)
    assert "410" in tabs.said.pop()
    assert "#gone" not in page.url


@pytest.mark.slow
def test_a_link_has_its_game_in_the_form_the_coach_of_the_command_and_a_result_to_share(browser):
    app = make_app(GameRecord("ShutTheBox", {}, None, 3, coach=True))
    with serving(app) as address, browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{address}?game=Greed&max_score=12&against=random&seat=1&seed=3")
        wait(page)
        page.wait_for_selector("#setup:not([inert])")
        fields = {"env max_score": "12", "against": "random", "seat": "1"}
        assert {name: page.input_value(f"[name='{name}']") for name in fields} == fields
        assert page.is_checked("#coach")
        page.uncheck("#coach")
        page.goto(f"{address}?game=Greed&max_score=12&seed=3")
        wait(page)
        assert not page.is_checked("#coach")  # the person's wish comes first
        while not page.locator("#end").is_visible():
            choose(page)
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.evaluate(
            "document.execCommand = () => { window.copied = document.activeElement.value; }"
        )
        click(page, "#share")
        assert page.inner_text("#share") == "Copied"
        result, grades, command = page.evaluate("copied").split("\n")
        assert result.startswith("Greed: You ")
        assert re.fullmatch("accuracy .* %.*[\N{LARGE GREEN SQUARE}\N{LARGE RED SQUARE}].*", grades)
        assert command.startswith("exactdice play Greed --env max_score 12 --seed 3")


@pytest.mark.slow
def test_a_game_outlives_the_server(browser):
    """The port stays bound between the servers, as another process could take it meanwhile."""

    def served():
        return serving(make_app(GameRecord("Greed")), fd=port.fileno())

    port = socket.create_server(("127.0.0.1", 0))
    with port, browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        with served() as address:
            page.goto(address)
            wait(page)
            begin(page, "ShutTheBox", seed=4)
            page.check("#coach")
            step(page)
            before, told = drawn(page), page.inner_text("#advice")
            assert "(yours)" in told
        for anew in (lambda: step(page), page.reload):
            with served():
                anew()
                wait(page)
                assert page.locator("#message").is_hidden()
                assert page.locator("#log li.mine").count() == 2
                assert page.inner_text("#advice") == told or anew != page.reload
                assert drawn(page) != before
                told = page.inner_text("#advice")


@pytest.mark.slow
def test_a_button_and_a_piece_choose_and_a_double_click_on_either_plays(tabs):
    page = begin(tabs(), "Greed", sizes={"max_score": 100})
    page.keyboard.press("1")  # the main button has a move only once a number is chosen
    page.locator("#play").dblclick(delay=60)
    idle(page)
    assert page.locator("#log li.mine").count() == 1  # a double click is one move
    button, piece = "#choices [aria-label='close 2 9']", "rect.open[aria-label='close 9']"
    for chooses, plays in ((button, piece), (piece, button)):
        begin(page, "ShutTheBox", seed=4)
        page.click(chooses)
        assert page.inner_text("#play") == "close 2 9"
        assert page.locator("rect.open[aria-pressed=true]").count() == 2
        assert page.locator("#choices .now").inner_text() == "close 2 9"
        assert page.inner_text("#log") == ""
        page.dblclick(plays)
        idle(page)
        assert "close 2 9" in last_of_log(page)
