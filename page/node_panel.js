// The tab of one switch or host: its ports, one of them over time, what it reports, and why a host receives so little.
// Methods of Panels (panels.js).

import {el, note, prose, table, time} from "./common.js";
import {counted, hostsWord, sentence} from "./dom.js";
import {bytes} from "./world.js";
import {portChart} from "./port_chart.js";

const kQueuePairs = 40;
const percent = (value) => Math.round(value * 100) + " %";

export const kNodePart = {
  showNode(id, port) {
    this.node = id;
    this.port = port ?? null;
    this.show("node");
  },

  tab_node(world, t) {
    this.panel.dataset.tab = "node";
    const node = this.node === null ? null : world.nodes[this.node];
    if (!node) return [el("h2", {}, "A switch or a host"), note("Click one in the fabric.")];
    const troubles = world.troubles(t), own = troubles.nodes.get(node.id) ?? [];
    const rows = node.ports.map((port, i) => {
      const link = node.links.find((l) => (l.a.node === node.id && l.a.port === i) || (l.b.node === node.id && l.b.port === i));
      if (!link) return [port, "–", "–", "–", "–"];
      const out = link.a.node === node.id ? 0 : 1, there = out === 0 ? link.b : link.a;
      const sent = world.load(link.wires[out], t), got = world.load(link.wires[1 - out], t);
      const chosen = this.port === i;
      const name = el("button", {type: "button", class: "link", "aria-pressed": chosen ? "true" : null, title: "this port over time", onclick: () => { this.port = chosen ? null : i; this.draw(); }}, port);
      const bad = [...(troubles.wires.get(link.wires[0]) ?? []), ...(troubles.wires.get(link.wires[1]) ?? [])];
      return [name, world.portName(there) + (link.slow ? `, ${link.rate / 1e9} Gb/s` : ""), percent(got.load), percent(sent.load), bad.length ? bad[0].effect.replaceAll("_", " ") : percent(sent.queue)];
    });
    return [el("h2", {}, node.name), node.role === "host" ? this.waitPart(world, node, t) : null, own.map((trouble) => el("p", {class: "error"}, trouble.fault.text)),
            table(["port", "to", "in", "out", "queue"], rows, [2, 3, 4]),
            node.isPart ? note("Of its ports those to racks that are followed. Click it among the planes for what all have counted.") : null,
            this.seriesPart(world, node, t),
            note("In and out: share of the line rate in the last microseconds. Queue: share of the trim threshold, from how long packets waited."),
            node.role === "host" ? this.hostPart(node) : this.switchPart(node)];
  },

  /// What a node says of itself, asked again every 20 µs of fabric time; null: it has not answered yet.
  toldBy(node, command) {
    const key = node.id + " " + this.page.world.number + " " + Math.floor(this.page.world.reached / 20e6);
    const take = (answer) => { this.told = {...answer, id: node.id}; this.draw(); };
    if (this.toldKey !== key) this.page.link.ask(command).then(take, (problem) => take({problem: problem.message}));
    this.toldKey = key;
    return this.told?.id === node.id ? this.told : null;
  },

  /// The switch's table and counters, in the words of `mrclab inspect`.
  switchPart(node) {
    const told = this.toldBy(node, {do: "inspect", node: node.id});
    if (!told) return null;
    if (told.problem) return note(sentence(told.problem));
    return [el("h3", {}, "Its table "), el("p", {}, el("code", {}, `mrclab inspect ${node.name}`), ` at ${time(told.at_ps)}`),
            el("pre", {id: "inspected"}, told.text), el("h3", {}, "Counters that are not zero"),
            table(["counter", "value"], Object.entries(told.counters), [1])];
  },

  hostPart(node) {
    const a = this.toldBy(node, {do: "host", host: node.index});
    if (!a) return null;
    if (a.problem) return note(sentence(a.problem));
    return [el("h3", {}, "Queue pairs ", hostsWord()),
            table(["QP", "posted", "completed", "state"], a.queues.slice(0, kQueuePairs).map((q) => ["0x" + q.qp.toString(16), q.posted, q.completed, q.in_error ? "in error" : "works"]), [1, 2]),
            a.queues.length > kQueuePairs ? note(`The first ${kQueuePairs} of ${a.queues.length}.`) : null,
            note(`At ${time(a.at_ps)}: ${a.retransmissions} retransmitted, ${counted(a.losses_detected, "loss", "losses")} noticed, ${bytes(a.in_flight_bytes)} in flight.`)];
  },

  /// One port over the whole time that is known, asked again as more of it is.
  seriesPart(world, node, t) {
    if (this.port === null || this.port === undefined || this.port >= node.ports.length) return note("Click a port for its load, queue, drops and trims over time.");
    const key = `${world.number} ${node.id} ${this.port} ${world.branch.known}`, asked = performance.now();
    if (key !== this.seriesKey && (!world.playing || asked - (this.seriesAsked ?? 0) > 1000)) {
      this.seriesKey = key;
      this.seriesAsked = asked;
      const of = {node: node.id, port: this.port};
      this.page.link.ask({do: "series", ...of}).then((answer) => { this.series = {...answer, of, branch: world.number}; this.draw(); },
                                                     (problem) => this.page.say(problem.message));
    }
    const found = this.series;
    if (!found || found.of.node !== node.id || found.of.port !== this.port || found.branch !== world.number) return null;
    return portChart(this.page, found, t);
  },

  waitPart(world, node, t) {
    this.waitsPart(world, t);
    const found = this.waits?.branch === world.number ? this.waits.hosts?.[node.index] : null;
    return found ? el("p", {id: "why", class: found.reason === "busy" ? "note" : null}, `At ${time(this.waits.at_ps)} ${prose(found.text)}.`) : null;
  },
};
