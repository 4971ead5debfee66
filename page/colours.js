// Colours that colour-blind people can distinguish (Okabe and Ito), light and dark, and what they stand for.

export const kKindWords = {data: "data", sack: "SACK, ACK", nack: "NACK", probe: "probe", trimmed: "trimmed header",
                           again: "retransmitted", other: "datagrams, other"};
export const kKinds = Object.keys(kKindWords);
const kByKind = {
  light: {data: "#0072b2", sack: "#009e73", nack: "#d55e00", probe: "#8a4fbf", trimmed: "#e69f00", again: "#cc3f92", other: "#6b7280"},
  dark: {data: "#56b4e9", sack: "#2fc79a", nack: "#ff8a4c", probe: "#b892f5", trimmed: "#ffc04d", again: "#ff7ac0", other: "#9aa4b2"},
};
const kFlows = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#9a7400", "#3d8ecc", "#5b4ab0", "#6b7280"],
  dark: ["#56b4e9", "#ff8a4c", "#2fc79a", "#e79ccb", "#f0d543", "#8ecbf5", "#a99cf5", "#b6bec9"],
};

export class Colours {
  constructor() {
    this.set(document.documentElement.dataset.theme);
  }
  set(theme) {
    const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.dark = dark;
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "line", "paper", "back", "accent", "bad", "warn", "idle", "node", "nodeline", "shade"]) {
      this[name] = style.getPropertyValue("--" + name).trim();
    }
    this.scale = Number(style.getPropertyValue("--s")) || 1;  // of letters: style.css, larger in a hall
    this.kinds = kByKind[dark ? "dark" : "light"];
    this.flows = kFlows[dark ? "dark" : "light"];
    this.loads = new Map();
  }
  /// A font of canvases, as large as the page's letters are now.
  font(size, weight = 400) { return `${weight} ${size * this.scale}px system-ui, sans-serif`; }
  /// Of a link with this load, 0 to 1: made once for each, because a browser reads the words slowly.
  load(load) {
    if (!this.loads.has(load)) {
      const part = load === 0 ? 0 : Math.round(25 + 75 * load);
      this.loads.set(load, part === 0 ? this.idle : `color-mix(in srgb, ${this.accent} ${part}%, ${this.idle})`);
    }
    return this.loads.get(load);
  }
  plane(index, count) {
    const light = (this.dark ? [70, 58] : [42, 56])[index % 2];
    return `hsl(${Math.round(205 + index * 360 / Math.max(count, 3)) % 360} 55% ${light}%)`;
  }
}
