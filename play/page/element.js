// Make an element with attributes and children; texts are never parsed as HTML.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const by = (id) => document.getElementById(id);
