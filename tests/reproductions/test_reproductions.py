"""The numbers of the sources: verdicts on claims, and computations by hand beside them."""

import re
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from by_hand import ByHand, section_7
from by_hand_match import Match, Rules
from checkout import ROOT
from exactdice.baselines import Task
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from exactdice.games.lowest_score.policies import notebook
from thinning import at_once, later

import exactdice
from docs.reproductions import pictures
from docs.reproductions.__main__ import END, HEADING, SOURCES, main, reproduce
from docs.reproductions.claim import At, summary, surprises, table
from docs.reproductions.four_two_one import charts, goals, laws, match_claims, tables, theory
from docs.reproductions.four_two_one import match as matches
from docs.reproductions.greed.last_turns import LastTurns
from docs.reproductions.greed.normal_turns import starts
from docs.reproductions.lowest_score import strategy
from docs.reproductions.shut_the_box.claims import NotesRecursion

DOCS = ROOT / "docs"
INDEX = (DOCS / "reproduction.md").read_text()
PAGES = {source: (DOCS / "reproduction" / f"{source}.md").read_text() for source in SOURCES}
#: Every table: its source, its title and what computes its claims, for ten seconds or longer.
TABLES = [
    pytest.param(source, *entry, id=entry[0], marks=pytest.mark.slow)
    for source, entries in SOURCES.items()
    for entry in entries
]


@pytest.mark.parametrize(("source", "title", "claims"), TABLES)
def test_every_verdict_is_as_recorded_and_on_the_page_as_it_is_printed(source, title, claims):
    found = claims()
    assert surprises(found) == []
    assert table(title, found) in f"#{PAGES[source]}"  # the first title is the page's
    assert f"\n| [{title}](reproduction/{source}.md) | {summary(found)} |\n" in INDEX


def test_the_index_lists_the_sources_in_order_and_each_has_a_page():
    assert INDEX.startswith(HEADING)
    titles = {source: [title for title, _ in tables] for source, tables in SOURCES.items()}
    wanted = [(title, source) for source, each in titles.items() for title in each]
    assert re.findall(r"^\| \[(.*)\]\(reproduction/(.*)\.md\) \|", INDEX, re.M) == wanted
    for source, page in PAGES.items():
        assert re.findall("^#+ (.*)$", page, re.M) == titles[source]
        assert page.startswith("# ")
        assert page.endswith(f"\n\n{END}\n")


CELLS = {"cell 11, beat": 2 * 8, "cell 12": 10, "cell 13, table": 11 * 9}
CELLS |= {"Table [1-4], ": 4 * (1 + 5 + 3), "chart": 2 * (2 * 8 + 3 * 28 + 2 * 6 + 3 * 6)}


@pytest.mark.parametrize("place", CELLS)
def test_every_cell_that_a_source_prints_is_on_the_page(place):
    assert len(re.findall(rf"^\| {place}", "".join(PAGES.values()), re.M)) == CELLS[place]


def test_a_new_verdict_is_an_error(monkeypatch, capsys):
    old = At("page 1").mistake(printed="2 + 2 = 5", exact="4", holds=False)
    new = At("page 2").mistake(printed="2 + 2 = 4", exact="4", holds=True)
    assert surprises([old, new]) == [new]
    monkeypatch.setitem(SOURCES, "greed", [("Arithmetic", lambda: [old])])
    assert reproduce(["greed"]) == 0
    assert "NEW" not in capsys.readouterr().out
    monkeypatch.setitem(SOURCES, "greed", [("Arithmetic", lambda: [old, new])])
    assert reproduce(["greed"]) == 1
    assert "agrees (recorded: wrong, NEW)" in capsys.readouterr().out


VERDICTS = [
    ("0.50", Fraction(501, 1000), "agrees by rounding", "agrees by rounding"),
    ("1/2", Fraction(1, 2), "agrees", "agrees"),
    ("1/2", Fraction(1, 3), "wrong", "agrees"),
    ("0.67", Fraction(2, 3), "agrees by rounding", "agrees by rounding"),
    ("0.66", Fraction(2, 3), "agrees by truncation", "agrees by rounding"),
    ("-0.66", Fraction(-2, 3), "agrees by truncation", "agrees by rounding"),
    ("12.50%", Fraction(1, 8), "agrees", "agrees"),
    ("3", Fraction(31, 10), "wrong", "agrees"),
    ("<u>2</u>/3", Fraction(2, 3), "garbled", "agrees"),
    ("5(cut)", Fraction(1, 3), "garbled", "garbled"),
]


@pytest.mark.parametrize(("printed", "exact", "verdict", "expected"), VERDICTS)
def test_numbers_get_the_verdict_they_deserve(printed, exact, verdict, expected):
    """Printed texts must be well-formed, unless the test does not look at them."""
    claim = At("page 1").number(printed=printed, exact=exact)
    assert (claim.verdict, claim.recorded) == (verdict, expected)


def test_a_table_shows_fractions_decimals_and_formulas_and_begins_with_the_wrong_claims():
    claims = [
        At("page 1").number(printed="0.67", exact=Fraction(2, 3), note="a | b"),
        At("page 2").number(printed="0.3", exact=Fraction(8, 27), formula="(2/3)^3"),
        At("page 3").number(printed="0.?7", exact=Fraction(2, 3)),
        At("page 4").mistake(printed="2 + 2 = 5", exact="4", holds=False),
    ]
    *_, wrong, garbled, first, second = table("Arithmetic", claims).splitlines()
    assert [wrong[2:8], garbled[2:8]] == ["page 4", "page 3"]
    assert first == "| page 1 | 0.67 | 2/3 | 0.666666666667 | agrees by rounding | a \\| b |"
    assert second == "| page 2 | 0.3 | (2/3)^3 | 0.296296296296 | agrees by rounding |  |"


def test_the_command_prints_the_pages_of_sources_or_the_index(monkeypatch, capsys):
    claim = At("page 1").statement(printed="2 + 2 = 4", holds=True)
    for source, each in SOURCES.items():
        monkeypatch.setitem(SOURCES, source, [(title, lambda: [claim]) for title, _ in each])
    everything = sum(map(len, SOURCES.values()))
    for words, shown in (["greed"], 1), (["421"], 2), (list(SOURCES), everything), ([], everything):
        assert main(words) == 0
        said = capsys.readouterr().out
        assert said.count("1 claims: 1 agrees; 0 not as recorded") == shown
        assert said.count("2 + 2 = 4") == (shown if words else 0)


@pytest.mark.parametrize("name", at_once("421-tables".__ne__, pictures.PICTURES))
def test_a_picture_has_numbers_and_a_caption(name):
    shown = pictures.PICTURES[name]()
    assert shown.caption.endswith(".")
    panels = [panel for panel in shown.panels if getattr(panel, "words", None)]
    assert all(len(panel.words(0, 0)) > 5 for panel in panels)
    page = (DOCS / "what-the-sources-got-wrong.md").read_text()
    assert f"(reproduction/{name}.png)" in page
    assert " ".join(shown.caption.split()) in " ".join(page.split())


def test_the_papers_search_misses_21_labels():
    left, right = pictures.figure_3().panels
    assert left.hatched.sum() == 21
    assert (left.texts != right.texts)[left.hatched].all()


def exact_value(game):
    return exactdice.solve(Task(game), exact=True).value


@pytest.mark.parametrize("tiles", [2, 3, 4, 5, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shut_wins", [True, False])
def test_tiles_exactly_and_a_few_where_the_first_roll_may_end_a_turn(tiles, shut_wins):
    notes = NotesRecursion(tiles, early_stop=tiles == 12)
    wanted = notes.after_1(notes.everything, shut_wins)
    assert exact_value(ShutTheBox(tiles, shut_wins=shut_wins)) == wanted


def test_the_last_turns_of_figure_3_give_the_famous_number_by_hand():
    """The chase tries too few dice, o - p + 1 if they are sure to win; else all is optimal."""

    class Figure3(ByHand):
        def _ratings(self, player, own, other, last):
            if not last or self.labelled(own, other) is None:
                return super()._ratings(player, own, other, last)
            return self.both(player, own, other, last, self.labelled(own, other))

        def labelled(self, own, other):
            gap = other - own
            if gap < 0:
                return 0
            if self.sides * (gap + 1) <= self.limit - own:
                return gap + 1
            tried = range((self.limit + other - 2 * own) // (self.sides + 1) + 1)
            return max(tried, key=lambda n: self.both(0, own, other, 1, n)[0])

    assert Figure3(10, 3, section_7(10, 3)).rating(0, 0, 0, 0) == Fraction(209529115, 387420489)


def test_the_rule_that_both_lose_a_tie_by_hand():
    first, second = ByHand(10, 3, section_7(10, 3), tie=(0, 0)).ratings(0, 0, 0, 0)
    (row,) = re.findall(r"^\| section 8, a tie lost by.*$", PAGES["greed"], re.M)
    assert f"| first {float(first):.6f}, second {float(second):.6f}" in row


def test_the_checks_can_fail():
    """On ratings that violate them, the checks of section 5 say so."""
    turns = LastTurns(6, 3)
    row = turns.row(6, 3)
    assert turns.compare(Greed(6, 3, max_dice=6))
    assert turns.is_unimodal()
    assert turns.conjecture_1_holds()
    assert turns.is_optimal(turns.found_downwards()).all()
    turns.ratings[row, 5] = turns.one  # a second peak, far above the middle
    assert not turns.is_unimodal()
    assert not turns.conjecture_1_holds()
    assert not turns.is_optimal(turns.found_downwards()).all()
    assert not turns.compare(Greed(6, 3, max_dice=6))
    turns.ratings[turns.row(2, -1), 0] -= 1
    assert not turns.forfeit_wins()
    turns.ratings[turns.row(6, 0), 1] -= 1  # one die beats 0 and cannot exceed 6
    assert not turns.certain_victory_wins()


@pytest.mark.parametrize("sides", [2, 3, 6])
def test_the_starts_of_small_games_are_positions_of_a_large_one(sides):
    assert starts(8, sides) == [starts(limit, sides)[-1] for limit in range(1, 9)]
    assert starts(5, sides)[-1] == ByHand(5, sides, section_7(5, sides)).rating(0, 0, 0, 0)


def test_lost_cells_and_the_gain_of_a_revision_have_the_known_values():
    assert charts.law("123", 3, True)["124"][-1] == Fraction(24239, 559872)
    assert charts.law("112", 3, True)["222"][-1] == Fraction(20605, 2519424)
    assert charts.law("1", 1, True)["2"][-1] == Fraction(1, 6)
    one, none = (tables.ratio("transfer", f"goal:{given},0", False) for given in (1, 0))
    assert one - none == Fraction(1883, 1048863)


@pytest.mark.parametrize(
    ("utility", "first", "following"),
    [
        ("goal:123", Fraction(42571, 186624), Fraction(24631, 186624)),
        ("goals:123,224,345", Fraction(367333, 1119744), Fraction(180553, 1119744)),
        ("transfer", Fraction(349621, 93312), Fraction(407293, 139968)),
        ("sum", Fraction(14), Fraction(109, 8)),
    ],
)
def test_known_optima(utility, first, following):
    assert exact_value(FourTwoOne(utility=utility)) == first
    assert exact_value(FourTwoOne(utility=utility, duration=3)) == following


def test_two_dice_with_three_faces_by_hand():
    """Of goal 12, cast too early, either die is replayed; of 11, one.

    With goal 12, 2 rolls end it, 33 keeps both, and the rest accumulate one.
    """
    (law,), (imposed,) = (theory.live_dice_laws(2, 3, 2, "12", *last) for last in ((), (2,)))
    assert law == [Fraction(2, 9), Fraction(6, 9), Fraction(1, 9)]
    assert imposed == [0, Fraction(8, 9), Fraction(1, 9)]
    assert goals.optimal_takes(laws.best(2, 3, 2, "12", 2), (), (1, 2), 1) == {(1,), (2,)}
    assert goals.optimal_takes(laws.best(2, 3, 2, "11", 2), (), (1, 1), 1) == {(1,)}


def test_the_checks_of_421_can_fail():
    assert goals.ratchet_is_optimal(3, 3, 2, "112")
    assert not goals.ratchet_is_optimal(3, 3, 3, "112")
    assert goals.only_ratchet_is_optimal(2, 3, 2, "12")
    assert not goals.only_ratchet_is_optimal(2, 2, 2, "12")
    assert theory.last_decisions_are_optimal("goal:1,1", "sum")
    assert not theory.last_decisions_are_optimal("goal:1,0", "sum")
    assert goals._any_one_die(laws.best(2, 3, 2, "12", 2), "12")
    assert not goals._any_one_die(laws.best(2, 2, 2, "12", 2), "12")


@pytest.mark.parametrize(
    "keywords", [{"tie": "last"}, later({"tie": "replay", "short_pot": "spill"})]
)
def test_the_length_of_a_match_by_phase(keywords):
    keywords |= {"tokens": 3, "charge_casts": 1, "discharge_casts": 2, "starter": "winner"}
    match = matches.OptimalMatch(FourTwoOneMatch(**keywords))
    found = matches.rounds(match.game, *match.solved.policies)
    by_hand = Match(Rules(**keywords)).length()
    assert found == pytest.approx([float(length) for length in by_hand], abs=1e-11)


def test_the_numbers_of_the_claims_stand_on_the_page_of_the_match():
    page = (DOCS / "421-match.md").read_text()
    for name, (optimal_wins, best_wins) in match_claims.LOSSES.items():
        assert f"| `{name}` | {optimal_wins} | {best_wins} |" in page
    for rule, value in match_claims.VALUES.items():
        assert "| `{}={}` | {} |".format(*rule.split("="), value) in page
    assert all(length in page for length in match_claims.ROUNDS.values())


@pytest.mark.slow
def test_no_difference_of_the_default_match_is_near_the_smallest_that_counts():
    match = matches.OptimalMatch(FourTwoOneMatch())
    kinds = (0, 1, -1), (-1, 1, 0), (-1, 0, 1)
    moved = [list(matches.gains(match, *by).values()) for by in kinds]
    inverted = matches.inversions(match).values()
    found = np.abs(np.concatenate([matches.lost_above_won(match), *inverted, *moved]))
    assert found[found > matches.SAME].min() > 1e-3
    assert found[found <= matches.SAME].max() < matches.SAME / 1e3


def test_rerolling_two_dice_beside_a_1_by_enumeration():
    """The higher of two dice is rolled again if it is worth more than 3, the mean of one die."""
    worths = (1, 2, 0, 4, 5, 6)
    lower = equal = Fraction(0)
    for one, two, again, other in product(worths, repeat=4):
        low, high = sorted((one, two))
        total = low + (again if high > 3 else high)
        lower += Fraction(total < 1 + other, 6**4)
        equal += Fraction(total == 1 + other, 6**4)
    assert strategy.compare_rerolls(LowestScore()) == (lower, equal)


class Transcribed:
    """The notebook's calculators, cells 8 to 14, with its caches but without its messages."""

    def __init__(self, dice, faces, zero_face):
        self.num_dice, self.faces, self.zero_face = dice, faces, zero_face
        self.p_beat, self.p_beat_with_roll = cache(self._p_beat), cache(self._p_beat_with_roll)
        self.p_win_or_tie, self.choose_n = cache(self._p_win_or_tie), cache(self._choose_n)

    def worth(self, die):
        return 0 if die == self.zero_face else die

    def rolls(self, dice):
        every = product(range(1, self.faces + 1), repeat=dice)
        return [tuple(sorted(roll, key=self.worth)) for roll in every]

    def possible_cuts(self, ordered_roll):
        values = [self.worth(die) for die in ordered_roll]
        for cut in range(1, len(ordered_roll) + 1):
            yield cut, sum(values[:cut]), len(ordered_roll) - cut

    def _p_beat_with_roll(self, goal, roll):
        if goal <= 0:
            return 0
        if not roll:
            return 1
        cuts = self.possible_cuts(roll)
        return max(self.p_beat(goal - value, rerolled) for _, value, rerolled in cuts)

    def _p_beat(self, goal, num_dice):
        if goal <= 0:
            return 0
        if num_dice == 0:
            return 1
        rolls = self.rolls(num_dice)
        return sum(self.p_beat_with_roll(goal, roll) for roll in rolls) / len(rolls)

    def p_winning(self, your_score, num_players):
        return (1 - self.p_beat(your_score, self.num_dice)) ** num_players

    def _p_win_or_tie(self, score_to_tie, score_so_far, dice_remaining, players_after):
        if score_to_tie is not None and score_to_tie < score_so_far:
            return 0
        if dice_remaining == 0:
            return self.p_winning(score_so_far, players_after)
        total, rolls = 0, self.rolls(dice_remaining)
        for roll in rolls:
            n, new_score = self.choose_n(score_to_tie, score_so_far, roll, players_after)
            total += self.p_win_or_tie(score_to_tie, new_score, dice_remaining - n, players_after)
        return total / len(rolls)

    def _choose_n(self, score_to_tie, score_so_far, roll, players_after):
        if score_to_tie is not None and score_to_tie < score_so_far:
            return len(roll), score_so_far + sum(map(self.worth, roll))
        best_p, choice = -1, None
        for n, value, rerolled in self.possible_cuts(roll):
            p = self.p_win_or_tie(score_to_tie, score_so_far + value, rerolled, players_after)
            if p > best_p:
                best_p, choice = p, (n, score_so_far + value)
        return choice


LARGE = pytest.param((5, 6, 3, 8), marks=pytest.mark.slow)


@pytest.mark.parametrize("sizes", [(3, 6, 3, 3), (4, 4, 2, 3), (2, 8, 8, 4), LARGE])
def test_optimal_bot_plays_as_the_notebooks_code_in_every_state(sizes):
    game, code = LowestScore(*sizes), Transcribed(*sizes[:3])
    observations = game.observe(np.arange(game.num_states), 0).tolist()
    for (total, *dice, best, after), action in zip(observations, notebook(game), strict=True):
        to_tie = None if best > game.max_score else best
        decision = to_tie, total, tuple(filter(None, dice)), after
        assert action + 1 == code.choose_n(*decision)[0], decision
