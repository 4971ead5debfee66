// Small things that every part of the page uses. Text is only ever set as text.

export function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== undefined && value !== null && value !== false) e.setAttribute(name, value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false) e.append(child);
  return e;
}
export const $ = (id) => document.getElementById(id);
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
}
export const note = (...text) => el("p", {class: "note"}, ...text);
/// A clause as a sentence: capital letter, full stop.
export const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.…]$/.test(text) ? "" : ".");
/// "1 port", "2 ports".
export const counted = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
export function table(head, rows, numeric = []) {
  const cell = (tag) => (value, i) => el(tag, {class: numeric.includes(i) ? "n" : null}, value);
  return el("table", {}, el("thead", {}, el("tr", {}, head.map(cell("th")))),
            el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell("td"))))));
}
/// A canvas of the size that it has on the screen, cleared; its context and size.
export function sized(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const w = Math.max(box.width, 10), h = Math.max(box.height, 10);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  return {c, w, h};
}
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
