"""A hook of mkdocs: links from the pages to files outside of ``docs`` lead to the repository.

In a checkout and on GitHub ``../examples/pig.py`` is the file itself; the site has no such page.
"""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
REPOSITORY = "https://github.com/exactdice/exactdice/tree/main"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the links of a page; those that lead nowhere are left, for mkdocs to refuse."""
    folder = (DOCS / page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        file = (folder / link[1]).resolve()
        if file.is_relative_to(DOCS) or not file.exists():
            return link[0]
        return f"]({REPOSITORY}/{file.relative_to(DOCS.parent).as_posix()}"

    return re.sub(r"\]\((\.\./[^)#]+)", replace, markdown)
