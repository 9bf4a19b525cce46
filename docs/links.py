"""A hook of mkdocs: the site has all that its pages link to, and asks no other server for it.

In a checkout ``../examples/pig.py`` and ``notebooks/is-it-a-bug.ipynb`` are files.
On the site the program is a file to read. The notebook is a page with the outputs that are kept in
it, and the changelog is a page, too. A tap on a picture opens its file.
"""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
#: Pages that are made of a file elsewhere, by their place in the site.
ELSEWHERE = {
    "changelog.md": ROOT / "CHANGELOG.md",
    **{f"notebooks/{path.stem}.md": path for path in sorted((DOCS / "notebooks").glob("*.ipynb"))},
}


def on_files(files: Any, *, config: Any) -> None:
    """Add the pages that are made of files elsewhere."""
    for place, path in ELSEWHERE.items():
        if path.suffix == ".ipynb":
            parts = []
            for name, content in read_notebook(path):
                parts.append(content if name is None else f"![Output]({name})")
                if name is not None:
                    files.append(File.generated(config, f"notebooks/{name}", content=content))
            text = "\n\n".join(map(str, parts))
        else:
            text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Lead the links to files outside of ``docs`` to their places in the site.

    A folder has no place in the site: its words are left. A link that leads nowhere is left, for
    mkdocs to refuse.
    """
    here = page.file.src_uri
    folder = ELSEWHERE.get(here, DOCS / here).parent

    def replace(link: re.Match[str]) -> str:
        words, file, anchor = link[1], (folder / link[2]).resolve(), link[3] or ""
        moved = here in ELSEWHERE or file in ELSEWHERE.values()
        if not file.exists() or (file.is_relative_to(DOCS) and not moved):
            return link[0]
        if file.is_dir():
            return words
        place = place_of(file)
        if files.get_file_from_path(place) is None:
            files.append(File.generated(config, place, abs_src_path=str(file)))
        way = os.path.relpath(place, Path(here).parent).replace(os.sep, "/")
        return f"[{words}]({way}{anchor if place.endswith('.md') else ''})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)", replace, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Lead every picture that is no link to its file, where a phone can enlarge it."""
    picture = r'(<a [^>]*>)?(<img [^>]*src="([^"]+)"[^>]*>)'
    return re.sub(picture, lambda m: m[0] if m[1] else f'<a href="{m[3]}">{m[2]}</a>', html)


def place_of(file: Path) -> str:
    """Give the place of a file of the checkout in the site."""
    for place, path in ELSEWHERE.items():
        if path == file:
            return place
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    place = f"files/{file.relative_to(ROOT).as_posix()}"
    return f"{place}.txt" if file.suffix == ".md" else place  # a text to read, not a page


def read_notebook(path: Path) -> Iterator[tuple[str | None, str | bytes]]:
    """Give the parts of a notebook in order: texts as Markdown, and pictures with their names."""
    pictures = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield None, source
            continue
        yield None, f"```python\n{source}\n```"
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                yield None, f"```text\n{''.join(output['text']).rstrip()}\n```"
            elif "image/png" in output["data"]:
                pictures += 1
                png = "".join(output["data"]["image/png"])
                yield f"{path.stem}-{pictures}.png", base64.b64decode(png)
