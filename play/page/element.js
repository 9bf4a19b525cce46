// Make an element with attributes and children; texts are never parsed as HTML.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const by = (id) => document.getElementById(id);

// Copy words; a page from another device has no clipboard, as its way there is not encrypted.
export async function copy(words) {
  if (navigator.clipboard) return navigator.clipboard.writeText(words);
  const box = element("textarea", {}, words);
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  return box.remove();
}
