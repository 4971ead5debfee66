// The matrix of entropy values: rows are flows, columns paths by plane; a cell shows how much data went that
// way lately, what was lost there, and the state that the host reports.

import {el, note, time} from "./common.js";
import {counted, sized} from "./dom.js";

export const kMatrixSpan = 40e6;  // ps of packets that it looks at
const kMaxFlows = 128;           // that it shows

/// The states that hosts report for paths that they do not use, by "host qp path" ("host qp plane" while a plane's ports are down): the
/// server's answer, whose states are the judge's.
export function pathWords(use) {
  return new Map(use.out.map(([host, qp, path, word]) => [host + " " + qp + " " + path, word]));
}

export function matrixPanel(use, world, t, colours, hover, choose) {
  const paths = [...new Set(use.cells.map((c) => c[4]))].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
  const all = [...new Map(use.cells.map((c) => [c[0] + " " + c[1] + " " + c[2], c])).values()], flows = all.slice(0, kMaxFlows);
  const canvas = el("canvas", {class: "matrix", tabindex: 0, "aria-label": "matrix of entropy values"});
  const info = el("p", {class: "note", "aria-live": "polite"}, "Hover a cell: its path lights up in the fabric. Click: its queue pair.");
  const words = pathWords(use);
  const label = 66, top = 26, size = Math.max(4, Math.min(16, Math.floor((world.sideWidth - label - 34) / Math.max(paths.length, 1))));
  const row = Math.max(13, Math.min(16, size + 3));  // a line of text
  canvas.style.width = label + paths.length * size + "px";
  canvas.style.height = top + flows.length * row + 4 + "px";
  const most = Math.max(1, ...use.cells.map((c) => c[5]));
  const cells = new Map(use.cells.map((c) => [c[0] + " " + c[1] + " " + c[2] + " " + c[4], c]));
  const senderQp = (flow) => world.qps.find((q) => q.qpn !== flow[2] && q.host === "h" + flow[0] && q.peer === `h${flow[1]}:0x${flow[2].toString(16).padStart(6, "0")}`)?.qpn;
  const draw = () => {
    const {c} = sized(canvas);
    c.font = "10.5px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "left";
    let plane = null;
    paths.forEach((path, x) => {
      const p = path.split("/")[0];
      if (p !== plane) {
        c.fillStyle = colours.soft;
        c.fillText(p, label + x * size, 8);
        c.fillStyle = colours.line;
        c.fillRect(label + x * size - 1, 0, 1, top + flows.length * row);
        plane = p;
      }
    });
    flows.forEach((flow, y) => {
      c.fillStyle = colours.ink;
      c.fillText(`h${flow[0]} → h${flow[1]}`, 0, top + y * row + row / 2);
      const qp = senderQp(flow);
      paths.forEach((path, x) => {
        const cell = cells.get(flow[0] + " " + flow[1] + " " + flow[2] + " " + path);
        const word = words.get(`${flow[0]} ${qp} ${path}`) ?? words.get(`${flow[0]} ${qp} ${path.split("/")[0]}`);
        const left = label + x * size, up = top + y * row;
        c.fillStyle = colours.kinds.data;
        c.globalAlpha = cell ? 0.18 + 0.82 * cell[5] / most : 0.05;
        c.fillRect(left, up, size - 1, row - 1);
        c.globalAlpha = 1;
        if (cell?.[6]) {
          c.fillStyle = colours.bad;
          c.fillRect(left, up + row - 4, size - 1, 3);
        }
        if (word && word !== "skip") {
          c.strokeStyle = colours.bad;
          c.lineWidth = 1.3;
          c.beginPath();
          c.moveTo(left + 1, up + 1);
          c.lineTo(left + size - 2, up + row - 2);
          c.stroke();
        }
      });
    });
  };
  const at = (e) => {
    const x = Math.floor((e.offsetX - label) / size), y = Math.floor((e.offsetY - top) / row);
    return flows[y] && paths[x] ? {flow: flows[y], path: paths[x]} : null;
  };
  canvas.addEventListener("pointermove", (e) => {
    const found = at(e);
    hover(found);
    if (!found) return;
    const cell = cells.get(found.flow.slice(0, 3).join(" ") + " " + found.path);
    info.textContent = `h${found.flow[0]} → h${found.flow[1]} over ${found.path}: ` +
        (cell ? `${cell[5]} sent, ${cell[6]} lost, ${cell[7]} trimmed, ${cell[8]} marked` : "no data in this time");
  });
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("click", (e) => { const found = at(e); if (found) choose(found.flow); });
  requestAnimationFrame(draw);
  return [el("h2", {}, "Entropy values"),
          note(`Data packets sent from ${time(use.from_ps)} to ${time(use.to_ps)}: the darker, the more. Red below: lost. ` +
               "Struck through: the host reports that it does not use the path."),
          all.length > flows.length ? note(`The first ${kMaxFlows} of ${all.length} flows.`) : null,
          use.unknown > 0 ? note(`${counted(use.unknown, "record of a data packet is", "records of data packets are")} not in it: the hosts are not known.`) : null,
          all.length ? null : note("No data packet was sent in this time."),
          el("div", {style: null}, canvas), info];
}
