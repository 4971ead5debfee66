// One port over time: what it sent and received, its queue, and what was lost, trimmed and marked there. The numbers are the
// server's (session/looks/port_series.h).

import {el, note, rate, time} from "./common.js";
import {sized} from "./dom.js";
import {bytes} from "./world.js";

const kStrips = [["used", 46], ["queue", 34], ["events", 30]];

export function portChart(page, series, t) {
  const canvas = el("canvas", {class: "series", tabindex: 0, role: "img", "aria-label": `${series.port} over time: load, queue, drops, trims`});
  const {world, line} = page, bin = series.bin_ps;
  const from = line.from, until = line.until;
  canvas.addEventListener("click", (e) => page.seek(Math.round(from + e.offsetX / canvas.getBoundingClientRect().width * (until - from))));
  requestAnimationFrame(() => draw(canvas, page, series, t));
  const sum = (list) => list.reduce((a, b) => a + b, 0), out = series.out;
  return [el("h3", {}, `${series.port} over time`), canvas,
    el("p", {class: "note", id: "series", "data-port": series.port}, `${rate(out.rate_bps)}; in ${time(series.bins * bin)}: ${sum(out.lost) + sum(series.in.lost)} lost, ${sum(out.trimmed)} trimmed, `
       + `${sum(out.marked)} marked, deepest queue ${bytes(Math.max(0, ...out.queue))} of ${bytes(out.queue_limit)}.`),
    series.bins < world.fabric.bins ? note("Later instants are not known yet.") : null];
}

function draw(canvas, page, series, t) {
  const {colours, line} = page, {c, w, h} = sized(canvas), {out} = series;
  const bin = series.bin_ps, x = (i) => (i * bin - line.from) / (line.until - line.from) * w;
  const first = Math.max(0, Math.floor(line.from / bin)), last = Math.min(series.bins, Math.ceil(line.until / bin));
  const share = h / kStrips.reduce((sum, [, high]) => sum + high, 0);
  let top = 0;
  const strip = (words, high, paint) => {
    const tall = high * share;
    c.save();
    c.translate(0, top);
    c.fillStyle = colours.line;
    c.fillRect(0, tall - 1, w, 1);
    paint(tall - 3);
    c.font = colours.font(10);
    c.textBaseline = "top";
    c.fillStyle = colours.paper;
    c.globalAlpha = 0.8;
    c.fillRect(0, 0, c.measureText(words).width + 5, 12 * colours.scale);
    c.globalAlpha = 1;
    c.fillStyle = colours.soft;
    c.fillText(words, 2, 1);
    c.restore();
    top += tall;
  };
  const area = (list, most, colour, high) => {
    c.fillStyle = colour;
    for (let i = first; i < last; ++i) {
      const tall = Math.min(1, list[i] / most) * high;
      if (tall > 0) c.fillRect(x(i), high + 2 - tall, Math.max(1, x(i + 1) - x(i)), tall);
    }
  };
  const curve = (list, most, colour, high) => {
    c.strokeStyle = colour;
    c.lineWidth = 1.3;
    c.beginPath();
    for (let i = first; i < last; ++i) c.lineTo(x(i + 0.5), high + 2 - Math.min(1, list[i] / most) * high);
    c.stroke();
  };
  strip("out (area) and in (line), of the line rate", kStrips[0][1], (high) => {
    area(out.used, 1, colours.load(0.7), high);
    curve(series.in.used, 1, colours.kinds.sack, high);
  });
  strip("queue, of its limit", kStrips[1][1], (high) => area(out.queue, Math.max(out.queue_limit, 1), colours.warn, high));
  const most = Math.max(1, ...out.lost.map((n, i) => n + series.in.lost[i]), ...out.trimmed);
  strip(`lost (red), trimmed; up to ${most} in ${time(bin)}`, kStrips[2][1], (high) => {
    area(out.trimmed, most, colours.kinds.trimmed, high);
    area(out.lost.map((n, i) => n + series.in.lost[i]), most, colours.bad, high);
  });
  c.fillStyle = colours.ink;
  c.fillRect((t - line.from) / (line.until - line.from) * w, 0, 1.4, h);
}
