// Says what a picture shows at the cell or the point nearest to the pointer.
const NEAR = 40;  // pixels from a point
const unpack = async (id) => {
  const text = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
};
const nearest = (places, at) =>
  places.reduce((best, place, i) => (Math.abs(place - at) < Math.abs(places[best] - at) ? i : best), 0);
const said = ({ box, x, y, words }, picture, event) => {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const across = (event.clientX - left) / width, down = (event.clientY - top) / height;
  if (across < box[0] || across > box[2] || down < box[1] || down > box[3]) return "";
  if (Array.isArray(words[0])) return words[nearest(y, down)][nearest(x, across)];
  const away = x.map((place, i) => Math.hypot((place - across) * width, (y[i] - down) * height));
  const one = nearest(away, 0);
  return away[one] < NEAR ? words[one] : "";
};
(async () => {
  const spots = await unpack("spots"), page = document.documentElement;
  const note = document.body.appendChild(document.createElement("div"));
  note.id = "note";
  const tell = (event) => {
    const figure = event.target.closest("figure");
    note.textContent = figure ? said(spots[figure.id], figure.querySelector("svg"), event) : "";
    note.style.left = `${Math.min(event.clientX + 12, page.clientWidth - note.offsetWidth)}px`;
    note.style.top = `${Math.min(event.clientY + 16, page.clientHeight - note.offsetHeight)}px`;
  };
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, tell);
  const hide = () => { note.textContent = ""; };
  page.addEventListener("mouseleave", hide);
  document.addEventListener("scroll", hide, true);
})();
