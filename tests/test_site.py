"""The documentation's site: it builds without a warning, holds together, and asks nobody else."""

import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import unquote, urlsplit

import pytest
from checkout import ROOT
from exactdice.core import GAMES

import exactdice

#: What is read on GitHub, by paths from the root.
TEXTS = [
    *sorted(path.name for path in ROOT.glob("*.md")),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]


PUBLIC = {*exactdice.__all__} - {"REFERENCE"}


def place_of(name):
    """Give the place where a public name is defined."""
    thing = getattr(exactdice, name)
    return f"{thing.__module__}.{thing.__qualname__}"


class Page(HTMLParser):
    """What a page refers to, what it loads by itself, and the anchors it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and not {"canonical", "prev", "next"} & set(found["rel"].split()):
            self.loads.append(found["href"])
        elif "src" in found:
            self.loads.append(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WARNING" not in result.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Read every page, but the one that any missing address gets: its links are from the root."""
    found = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    found.pop(site / "404.html")
    assert len(found) > 15
    return found


def test_every_page_of_the_navigation_is_there_and_the_reference_has_every_public_name():
    """As the slow tests of the built site find, without building it."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- .*: (\S+\.md)$", settings, re.M)
    made = {f"notebooks/{path.stem}.md" for path in (ROOT / "docs/notebooks").glob("*.ipynb")}
    assert len(named) > 30
    assert {name for name in named if not (ROOT / "docs" / name).is_file()} == made | {
        "changelog.md"
    }
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("*.md")]
    shown = {place for text in texts for place in re.findall(r"^::: (\S+)$", text, re.M)}
    assert all(resolve_name(place) is not None for place in shown)
    assert {place_of(name) for name in PUBLIC} - shown == set()


@pytest.mark.slow
def test_every_link_leads_somewhere_and_no_page_loads_from_another_server(site, pages):
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text()), style.name
    for path, page in pages.items():
        assert not [load for load in page.loads if urlsplit(load).netloc], path.name
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.name}: {link}"
            if target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"


@pytest.mark.slow
def test_a_tap_on_a_picture_opens_it_and_each_notebook_is_a_page_with_its_pictures(site, pages):
    gallery, games = (pages[site / name] for name in ("gallery.html", "games.html"))
    pictures = {place for place in gallery.loads if place.startswith("gallery/")}
    assert len(pictures) > 15
    assert pictures <= {*gallery.links}
    boards = {place for place in games.loads if place.startswith("boards/")}
    assert len(boards) == len(GAMES)
    assert not boards & {*games.links}  # they lead to the pages of the games
    books = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
    assert len(books) == 4
    for book in books:
        shown = set(pages[site / f"notebooks/{book.stem}.html"].loads)
        drawn = book.read_text(encoding="utf-8").count('"image/png"')
        assert {f"{book.stem}-{number}.png" for number in range(1, drawn + 1)} <= shown


@pytest.mark.slow
def test_a_page_that_is_read_from_the_disk_is_searched(site, browser):
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "reference/functions.html").as_uri())
    page.locator("[data-md-component=search-query]").fill("exploitability")
    found = page.locator(".md-search-result__link").first
    found.wait_for(state="attached", timeout=10_000)
    target = Path(unquote(urlsplit(found.evaluate("link => link.href")).path))
    assert target.is_relative_to(site)
    assert "exploitability" in target.read_text()
    assert all(url.startswith("file:") for url in asked)
    page.close()


@pytest.mark.slow
def test_the_reference_has_every_public_name(pages):
    anchors = set().union(*(pages[path].anchors for path in pages if "reference" in path.parts))
    assert {place_of(name) for name in PUBLIC} - anchors == set()


@cache
def without_code(path):
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)


def anchors_on_github(path):
    """Give the anchors of a text: of each heading, small, without its marks and with hyphens."""
    headings = re.findall(r"^#+ (.*)$", without_code(path), flags=re.M)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_of_a_text_holds_on_github(name):
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(ROOT / name)):
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme == "https"
            continue
        target = (ROOT / name).parent / unquote(parts.path) if parts.path else ROOT / name
        assert target.exists(), link
        if parts.fragment and target.suffix == ".md":
            assert parts.fragment in anchors_on_github(target.resolve()), link
