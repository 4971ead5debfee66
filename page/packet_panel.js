// One packet: its way as a row of places, every header there, and what each hop changed.

import {el, note, time} from "./common.js";
import {counted} from "./dom.js";

/// The uSIDs of a carrier, with the active one marked.
function carrierOf(place) {
  const outer = place.layers.find((l) => l.name === "ipv6" || l.name === "IPv6") ?? place.layers[1];
  const text = outer?.fields.find((f) => f.name === "dst")?.value;
  if (!text || !place.layers.filter((l) => l.name === "ipv6")[1]) return null;
  const groups = expanded(text);
  return el("div", {class: "carrier", title: "the carrier: block, active uSID, and what is left of the list"},
            groups.map((g, i) => el("span", {class: i === 2 ? "active" : g === "0" ? "zero" : null}, g)));
}

function expanded(address) {
  const [left, right = ""] = address.split("::"), l = left.split(":").filter(Boolean), r = right.split(":").filter(Boolean);
  return address.includes("::") ? [...l, ...new Array(8 - l.length - r.length).fill("0"), ...r] : l;
}

const fieldsOf = (place) => {
  const map = new Map();
  place.layers.forEach((layer, i) => layer.fields.forEach((f) => map.set(i + "." + f.name, f.value)));
  return map;
};

function sentence(place, before, changes) {
  const where = place.port;
  if (place.refused) return `${where}: it has arrived, and the NIC did not take it (${place.cause.replaceAll("_", " ")}). Its sender will retransmit it.`;
  if (place.event === "dropped") return `${where}: dropped, ${place.cause.replaceAll("_", " ")}. Nothing of it goes on.`;
  if (place.event === "trimmed") return `${where}: the queue was full, so the switch cut it to its headers and sends these ${place.wire_length} bytes ahead of the data: the receiver learns at once what is missing.`;
  if (!before) return `${where}: the host sends it.`;
  if (place.side === "in") return `${where}: its last bit has arrived.`;
  const words = [];
  if (changes.some((c) => c.endsWith(".dst"))) words.push("shifts the carrier: the next uSID becomes active");
  if (changes.some((c) => c.endsWith(".hlim"))) words.push("lowers the hop limit");
  if (changes.some((c) => c.endsWith(".tclass"))) words.push("marks congestion (ECN)");
  return `${where}: the switch ${words.length ? words.join(", ") : "sends it on as it came"}.`;
}

export function packetPanel(life, shown, show, seek) {
  const places = life.places;
  if (!places.length) return [note(`No place has a record of this packet up to ${time(life.until_ps)}.`)];
  const at = Math.min(shown, places.length - 1), place = places[at];
  const before = at > 0 && places[at - 1].attempt === place.attempt ? places[at - 1] : null;
  const now = fieldsOf(place), then = before ? fieldsOf(before) : now;
  const changes = [...now].filter(([key, value]) => then.get(key) !== value && before?.layers.length === place.layers.length).map(([key]) => key);
  return [
    el("h2", {}, `PSN ${life.psn}, h${life.source} → h${life.destination}`),
    el("p", {class: "note"}, `queue pair 0x${life.qp.toString(16)}` + (place.path ? `, path ${place.path}` : "") +
       (place.attempt > 1 ? `, attempt ${place.attempt}` : "")),
    el("div", {class: "hops"}, places.map((p, i) => el("button", {type: "button", "aria-current": i === at ? "true" : null,
      class: p.event === "dropped" ? "gone" : null, title: time(p.t_ps), onclick: () => { show(i); seek(p.t_ps); }},
      (p.event === "dropped" ? "✕ " : p.event === "trimmed" ? "✂ " : p.side === "in" ? "→ " : "") + p.port + (p.side === "out" ? " →" : "")))),
    el("p", {}, sentence(place, before, changes)),
    el("p", {class: "note"}, `${time(place.t_ps)}, ${place.wire_length} bytes on the wire` +
       (before ? `, ${time(place.t_ps - before.t_ps)} after the place before` : "")),
    carrierOf(place),
    place.layers.map((layer, i) => {
      const changed = layer.fields.some((f) => changes.includes(i + "." + f.name));
      return el("details", {class: "layer", open: changed || i === 1},
        el("summary", {}, layer.label, el("em", {}, changed ? "changed here" : "")),
        el("table", {}, layer.fields.map((f) => el("tr", {class: changes.includes(i + "." + f.name) ? "changed" : null, title: f.about},
          el("td", {}, f.label), el("td", {}, f.value, changes.includes(i + "." + f.name) ? el("span", {class: "note"}, "  was " + then.get(i + "." + f.name)) : null)))));
    }),
    life.left_out > 0 ? note(`${counted(life.left_out, "later place is", "later places are")} left out for lack of room.`) : null,
    note((life.simulated ? "Simulated again from this session's scenario. " : "") + "Switch places are records of the node; the bytes are those on the wire, without payload."),
  ];
}
