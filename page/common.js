// What the live page and the report's page have in common: elements, tables, and numbers as text. The report's script
// has it without its exports (analysis/report/report.cc). Text is only ever set as text.

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
export const note = (...text) => el("p", {class: "note"}, ...text);
/// `numeric`: columns of numbers. `cards`: on a narrow screen each row is a list of its own, with the heads as labels.
/// A row is a list of cells, or {id, cells}.
export function table(head, rows, numeric = [], cards = false) {
  const kind = (i) => numeric.includes(i) ? "n" : null;
  return el("table", {class: cards ? "cards" : null},
      el("thead", {}, el("tr", {}, head.map((h, i) => el("th", {class: kind(i), scope: "col"}, h)))),
      el("tbody", {}, rows.map((row) => {
        const {id, cells} = Array.isArray(row) ? {cells: row} : row;
        return el("tr", {id}, cells.map((c, i) => el("td", {class: kind(i), "data-label": head[i]}, c)));
      })));
}

export const kSigns = {pass: "✓", fail: "✗", inconclusive: "?"};
const isNone = (value) => value === null || value === undefined;
export function trimmed(value, digits) {
  const text = Number(value).toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
/// An instant or a duration of fabric time.
export function time(ps) {
  if (isNone(ps)) return "–";
  const size = Math.abs(ps);
  if (size === 0) return "0";
  if (size < 1e6) return trimmed(ps / 1e3, 3) + " ns";
  if (size < 1e10) return trimmed(ps / 1e6, 3) + " µs";
  return trimmed(ps / 1e9, 4) + " ms";
}
export function rate(bps) {
  if (isNone(bps)) return "–";
  return bps >= 1e12 ? trimmed(bps / 1e12, 3) + " Tb/s" : trimmed(bps / 1e9, 2) + " Gb/s";
}
/// Text of the run with its times as the pages write them: "66.1248us" is "66.125 µs".
export const prose = (text) => text.replace(/(\d+(?:\.\d+)?)(ps|ns|us|ms)\b/g,
    (_, number, unit) => trimmed(number, 3) + "\u00a0" + unit.replace("us", "µs"));
/// A word of a shell: what is not plain stands in single quotes.
export const shellWord = (text) => /^[\w@%+=:,.\/-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
