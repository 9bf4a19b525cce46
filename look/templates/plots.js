// Unpacks and draws every plot into the element of its name. A finger on a plot scrolls the page.
const unpack = async (id) => {
  const text = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};
// Draws a plot in light ink on the dark page; maps keep their colours.
const darken = ({ data, layout }) => {
  const { layout: look } = layout.template;
  Object.assign(look, { paper_bgcolor: "#16191d", plot_bgcolor: "#16191d", font: { color: "#ece9e2" } });
  for (const axis of [look.xaxis, look.yaxis]) Object.assign(axis, { gridcolor: "#3b424c", linecolor: "#3b424c", zerolinecolor: "#3b424c" });
  for (const trace of data) if (trace.line?.color === "black") trace.line.color = "#ece9e2";
  for (const line of layout.shapes ?? []) line.line.color ??= "#ece9e2";
};
(async () => {
  const script = document.createElement("script");
  script.textContent = await unpack("plotly");
  document.head.append(script);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const touched = matchMedia("(pointer: coarse)").matches;
  for (const [name, plot] of Object.entries(JSON.parse(await unpack("plots")))) {
    if (touched) plot.layout.dragmode = false;
    if (dark) darken(plot);
    await Plotly.newPlot(name, plot.data, plot.layout, {displayModeBar: false, responsive: true});
  }
})();
