"""Plots inside a web page, compressed, which the reader's browser unpacks and draws.

The script of plotly takes 4.8 MB and the numbers of large maps as much again; compressed both take
a quarter. Every browser since 2023 can unpack them (``DecompressionStream``).
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Iterable

from plotly.offline import get_plotlyjs

_PLOT = re.compile('<script type="application/json" data-plot="([^"]*)">(.*?)</script>', re.DOTALL)
#: Draws every plot into the element of its name. A finger on a plot scrolls the page.
_DRAWING = """
const unpack = async (id) => {
  const text = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};
(async () => {
  const script = document.createElement("script");
  script.textContent = await unpack("plotly");
  document.head.append(script);
  const touched = matchMedia("(pointer: coarse)").matches;
  for (const [name, plot] of Object.entries(JSON.parse(await unpack("plots")))) {
    if (touched) plot.layout.dragmode = false;
    await Plotly.newPlot(name, plot.data, plot.layout, {displayModeBar: false, responsive: true});
  }
})();
"""


def plot(name: str, figure: str, height: int) -> str:
    """Write the place of a plot, with the plot beside it for ``pack``.

    Args:
        name: unique on the page.
        figure: plotly's JSON of the plot, in which < is escaped.
        height: of the plot in pixels, kept free until it is drawn.
    """
    return (
        f'<div id="{html.escape(name)}" class="plot" style="min-height: {height}px"></div>'
        f'<script type="application/json" data-plot="{html.escape(name)}">{figure}</script>'
    )


def pack(parts: Iterable[str]) -> str:
    """Join the parts of a page, and compress their plots and plotly's script behind them."""
    body = "\n".join(parts)
    plots = {html.unescape(name): json.loads(figure) for name, figure in _PLOT.findall(body)}
    if not plots:
        return body
    packed = {"plotly": get_plotlyjs(), "plots": json.dumps(plots, separators=(",", ":"))}
    kept = (
        f'<script type="text/plain" id="{name}">{_compressed(text)}</script>'
        for name, text in packed.items()
    )
    return "\n".join([_PLOT.sub("", body), *kept, f"<script>{_DRAWING}</script>"])


def _compressed(text: str) -> str:
    """Compress a text; the same text gives the same letters, as no time stands in them."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
