// Gives the words of a page that have too little contrast with what is behind them.
() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (...colours) => {
    const [low, high] = colours.map(light).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (words) => {
    if (words instanceof SVGElement) {
      const at = words.getBoundingClientRect();
      const [x, y] = [at.x + at.width / 2, at.y + at.height / 2];
      const under = [...words.parentElement.querySelectorAll("rect")].filter((rect) => {
        const box = rect.getBoundingClientRect();
        return rect.compareDocumentPosition(words) & Node.DOCUMENT_POSITION_FOLLOWING
          && box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
      });
      return getComputedStyle(under.at(-1)).fill;
    }
    let box = words;
    while (/rgba.*, 0\)/.test(getComputedStyle(box).backgroundColor)) box = box.parentElement;
    return getComputedStyle(box).backgroundColor;
  };
  const said = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
    && !one.closest("select:disabled") && ![...one.children].length && one.textContent.trim());
  return said.map((one) => {
    const style = getComputedStyle(one);
    const ink = one instanceof SVGElement ? style.fill : style.color;
    const paper = behind(one);
    return [one.textContent, ink, paper, contrast(ink, paper)];
  }).filter(([, , , ratio]) => ratio < 4.5);
}
