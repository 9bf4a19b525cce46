// Unpacks and draws every plot into the element of its name. A finger on a plot scrolls the page.
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
