// The tab of a fabric that is shown by switch and rack: what its cells mean, faults and their places, the switches with most
// trouble now, and the switch or rack that is chosen. Methods of Panels (panels.js).

import {el, note, table, time} from "./common.js";
import {counted, sentence} from "./dom.js";
import {isAtOnce} from "./world.js";
import {kMeasures} from "./whole_world.js";

const kWorst = 6, kFaults = 12, kSlowHosts = 8;
const many = (n) => n.toLocaleString("en");
const amount = (bytes) => bytes >= 1e9 ? (bytes / 1e9).toFixed(2) + " GB" : bytes >= 1e6 ? (bytes / 1e6).toFixed(2) + " MB" : (bytes / 1e3).toFixed(1) + " kB";

export const kWholePart = {
  chooseSwitch(found) { this.ask({switch: found.name, rack: found.rack}); },
  chooseRack(rack) { this.ask({switch: null, rack}); },

  /// Asks the server about a switch and its rack, and shows the tab.
  ask(about) {
    this.about = {...about, asked: null};
    this.fabricKey = null;
    this.show("fabric");
  },

  /// What was chosen, asked again when the world has come further.
  askAgain(world) {
    const {about, page} = this, key = `${world.number} ${world.reached}`;
    if (!about || about.asked === key || about.asking || performance.now() - (about.askedAt ?? 0) < 400) return;
    Object.assign(about, {asked: key, asking: true, askedAt: performance.now()});
    const take = (name) => (answer) => { about[name] = answer; about.problem = null; };
    const refuse = (problem) => { about.problem = problem.message; };
    Promise.all([about.switch ? page.link.ask({do: "switch", name: about.switch}).then(take("told"), refuse) : null,
                 about.rack !== null ? page.link.ask({do: "rack", rack: about.rack}).then(take("toldRack"), refuse) : null])
        .then(() => { about.asking = false; this.fabricKey = null; if (this.tab === "fabric") this.draw(); });
  },

  tab_fabric(world, t) {
    const {page} = this, whole = world.fabric.whole;
    if (!whole) return [note("Every packet of this fabric is shown: there is nothing to sum up.")];
    this.askAgain(world);
    const window = world.windowAt(t), key = `fabric ${world.number} ${window?.number} ${page.fabric.measure} ${world.branch.faults.map((f) => f.from_ps <= t && (f.until_ps ?? Infinity) > t)}`;
    if (key === this.fabricKey && this.panel.dataset.tab === "fabric") return null;
    this.fabricKey = key;
    this.panel.dataset.tab = "fabric";
    return [el("h2", {}, world.fabric.fabric),
            note(`${many(whole.hosts)} hosts, ${many(whole.nodes - whole.hosts)} switches, ${many(whole.links)} links. Switches and hosts are counted every ${time(world.bin)}; packets are recorded of what is followed.`),
            el("p", {}, ...whole.followed.map((rack) => [this.rackButton(world, rack), " "])),
            el("p", {class: "filters", id: "measures"}, "cells by ", ...kMeasures.map(([name, about]) => el("button", {type: "button", title: about + " (M)", "aria-pressed": page.fabric.measure === name ? "true" : "false",
              onclick: () => page.measureBy(name)}, name))),
            this.faultPlaces(world, t), this.chosenPart(world), this.worstPart(world, window)];
  },

  rackButton(world, rack) {
    const [first, last] = world.hostsOf(rack);
    return el("button", {type: "button", "data-rack": rack, onclick: () => this.page.goWhere({rack})}, `rack ${rack}: h${first} to h${last}`);
  },

  faultPlaces(world, t) {
    const faults = world.branch.faults;
    if (!faults.length) return [el("h3", {}, "Faults"), note("None is scheduled, and none was made by hand.")];
    const stage = (f) => t < f.from_ps ? "to come" : t < (f.until_ps ?? Infinity) ? "in force" : isAtOnce(f) ? "at once" : "over";
    return [el("h3", {}, "Faults"),
            el("ul", {class: "list", id: "places"}, faults.slice(0, kFaults).map((f) => {
              const switches = new Set(f.places.flatMap((p) => p.switches.map(([place]) => place))).size, hosts = new Set(f.places.flatMap((p) => p.hosts.map(([host]) => host))).size;
              return el("li", {}, el("button", {type: "button", onclick: () => this.page.goFault(f)}, "show"), el("b", {}, f.kind), " ", el("span", {class: "word"}, stage(f)),
                        el("div", {class: "note"}, f.text.length > 160 ? f.text.slice(0, 160) + " …" : f.text), note(`at ${[switches ? counted(switches, "switch", "switches") : null, hosts ? counted(hosts, "host") : null].filter(Boolean).join(" and ")}, from ${time(f.from_ps)}${f.until_ps === null ? "" : " to " + time(f.until_ps)}`));
            })), faults.length > kFaults ? note(`The first ${kFaults} of ${faults.length}: the tab Faults has all.`) : null];
  },

  chosenPart(world) {
    const {about} = this;
    if (!about) return note("Click a switch for its counters. A rack that is followed opens: its hosts, its ports and its packets.");
    if (about.problem) return [el("h3", {}, about.switch ?? `Rack ${about.rack}`), note(sentence(about.problem))];
    return [about.told ? this.switchWords(about.told) : null, about.toldRack ? this.rackWords(world, about.toldRack) : null];
  },

  switchWords(told) {
    const c = told.counts, rows = told.worst.filter((w) => w.lost || w.trimmed || w.marked || w.queue_max_bytes);
    return [el("h3", {id: "chosen-switch"}, told.switch), note(`Up to ${time(told.at_ps)}, over ${counted(told.ports, "port")}: ${amount(c.sent_bytes)} sent, ${many(c.lost)} lost, ${many(c.trimmed)} trimmed, ${many(c.marked)} marked.`),
            ...(rows.length ? [table(["port", "to", "lost", "trimmed", "marked", "longest queue"], rows.slice(0, 8).map((w) => [w.port, w.to, many(w.lost), many(w.trimmed), many(w.marked), amount(w.queue_max_bytes)]), [2, 3, 4, 5]),
                           note(`The ${Math.min(8, rows.length)} of its ports with most trouble.`)] : [note(`It has lost, trimmed, marked and queued no packet up to ${time(told.at_ps)}.`)])];
  },

  rackWords(world, told) {
    const hosts = told.hosts.map(([received, again, losses], i) => ({host: told.first + i, received, again, losses})).sort((a, b) => a.received - b.received);
    const {page} = this, whole = world.fabric.whole, full = whole.followed.length >= whole.most;
    const follow = () => page.command({do: "follow", racks: [...(full ? whole.followed.slice(1) : whole.followed), told.rack]});
    return [el("h3", {id: "chosen-rack"}, `Rack ${told.rack}: h${told.first} to h${told.last}`),
            ...(told.followed ? [el("p", {}, this.rackButton(world, told.rack))]
              : [el("p", {}, el("button", {type: "button", id: "follow", onclick: follow}, "Follow it")),
                 note(`Its packets are not recorded. To follow it simulates the fabric again from the beginning${full ? `, without rack ${whole.followed[0]}: ${whole.most} are followed at most` : ""}.`)]),
            table(["T0", "sent", "lost", "trimmed", "marked"], told.planes.map((p) => [p.switch, amount(p.sent_bytes), many(p.lost), many(p.trimmed), many(p.marked)]), [1, 2, 3, 4]),
            el("h3", {}, "Its hosts that have received least"),
            table(["host", "received", "sent again", "losses noticed"], hosts.slice(0, kSlowHosts).map((h) => ["h" + h.host, amount(h.received), many(h.again), many(h.losses)]), [1, 2, 3]),
            note(`Of ${counted(hosts.length, "host")}, up to ${time(told.at_ps)}, reported by the hosts; the one in the middle has received ${amount(hosts[hosts.length >> 1].received)}.`)];
  },

  /// The switches of the window that lost most, trimmed most and queued most.
  worstPart(world, window) {
    if (!window) return [el("h3", {}, "Most trouble now"), note("This window is not known yet.")];
    const {counts, bytes} = window.cells, all = [];
    for (let place = 0; place < bytes.length / 8; ++place) {
      const lost = counts[4 * place + 1], trimmed = counts[4 * place + 2], queue = bytes[8 * place + 1];
      if (lost || trimmed || queue > 100) all.push({place, lost, trimmed, queue});
    }
    all.sort((a, b) => b.lost - a.lost || b.trimmed - a.trimmed || b.queue - a.queue);
    const from = window.number * world.bin, span = `${time(from)} to ${time(from + world.bin)}`;
    const go = (place) => el("button", {type: "button", class: "link", onclick: () => this.page.chooseCell(place)}, world.switchAt(place).name);
    return [el("h3", {}, "Most trouble now"),
            all.length ? table(["switch", "lost", "trimmed", "queue"], all.slice(0, kWorst).map((x) => [go(x.place), many(x.lost), many(x.trimmed), Math.round(x.queue / 2) + " %"]), [1, 2, 3]) : null,
            note(all.length ? `From ${span}: ${counted(all.length, "switch", "switches")} of ${many(bytes.length / 8)} lost or trimmed something, or had a queue of half the trim threshold.`
                            : `From ${span} no switch of ${many(bytes.length / 8)} lost or trimmed a packet, or had a queue of half the trim threshold at its end.`)];
  },
};
