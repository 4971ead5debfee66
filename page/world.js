// The page's copy of the world: the fabric, the branches, and what was seen of each of them, by time.
// All times are picoseconds of fabric time, as numbers (exact below 2^53, which is two and a half hours).

import {time, trimmed} from "./common.js";
import {kWholeWorld} from "./whole_world.js";

export const kTrimmed = 1;
export const kDropped = 2;
const kChunk = 2e6;           // packets are asked for in pieces of so much fabric time (2 us)
/// Has it payload, also where that was trimmed? Is it of a burst, and so of no queue pair? (session/page_messages.h)
export const isData = (packet) => (packet.flags & 8) !== 0;
export const isDatagram = (packet) => (packet.flags & 16) !== 0;
export const kAsking = "asking …";
const kLongestPacket = 9216;  // bytes, of any fabric (our choice)
const kMaxChunks = 48;        // that are kept
// Of a rack, of which a microsecond has ten thousands of them: shorter pieces, and fewer.
const kRackChunk = 0.5e6, kMaxRackChunks = 24;
const kWords = {host: "host", t0: "T0", t1: "T1", t2: "T2"};

/// What was seen of one branch.
class Branch {
  constructor(number, bins) {
    this.number = number;
    this.bins = new Array(bins);
    this.known = 0;       // bins from the first on
    this.chunks = new Map();  // index -> {packets, whole} or a promise
    this.events = [];
    this.windows = [];
    this.faults = [];
    this.transport = "";
  }
}

export class World {
  constructor() {
    this.branches = new Map();
    this.number = 0;
    this.other = null;
    this.t = 0;
    this.playing = false;
    this.perSecond = 20e6;
    this.reached = 0;
    this.mine = false;
    this.controlsFree = false;
    this.browsers = 1;
    this.soughtAt = -Infinity;  // when the user last went to an instant, by performance.now()
    this.packetsAsOf = 0;  // counts answers with packets
    this.asOf = performance.now();
  }

  get branch() { return this.branches.get(this.number); }

  /// Takes a message; returns its name.
  take(message) {
    switch (message.say) {
      case "welcome": this.welcome(message); break;
      case "branch": this.takeBranch(message); break;
      case "state": this.takeState(message); break;
      case "reached": this.takeReached(message); break;
      case "sums": this.takeSums(message); break;
      case "tally": this.takeTally(message); break;
      case "events": this.of(message.branch)?.events.push(...message.lines); break;
      case "windows": this.of(message.branch)?.windows.push(...message.lines); break;
      case "controls":
        this.mine = message.mine;
        this.controlsFree = message.free;
        this.browsers = message.browsers;
        break;
    }
    return message.say;
  }

  of(number) { return this.branches.get(number); }

  /// Did it arrive, and the receiving NIC not take it? Then it is not lost.
  isRefused(p) { return p.event === kDropped && this.fabric.refusals.includes(p.cause); }

  /// What it is drawn and listed as: a word of colours.js.
  kindOf(p) { return this.fabric.packet_kinds[p.kind]; }

  welcome(w) {
    this.fabric = w;
    this.branches.clear();
    this.number = 0;
    this.end = w.end_ps;
    this.bin = w.bin_ps;
    this.chunk = w.whole ? kRackChunk : kChunk;
    this.only = null;
    this.nodes = w.nodes.map((n, id) => ({...n, ports: Object.assign([], n.ports), isPart: !Array.isArray(n.ports), id, word: kWords[n.role], links: []}));
    this.links = w.links.map((l, id) => ({...l, id, a: {node: l.a[0], port: l.a[1]}, b: {node: l.b[0], port: l.b[1]}}));
    this.wires = new Array(w.wires);
    for (const link of this.links) {
      this.nodes[link.a.node].links.push(link);
      this.nodes[link.b.node].links.push(link);
      this.wires[link.wires[0]] = {link, from: link.a, to: link.b, up: true};
      this.wires[link.wires[1]] = {link, from: link.b, to: link.a, up: false};
    }
    // The longest of these links alone, as a rack has so many packets.
    const longest = (of) => this.links.reduce((most, l) => Math.max(most, of(l)), 0);
    this.onLinks = {flight: longest((l) => l.propagation_ps), sending: longest((l) => kLongestPacket * 8 / l.rate * 1e12)};
    this.optics = w.optics.map((o, id) => ({...o, id: o.number ?? id}));
    for (const optic of this.optics) for (const link of optic.links) this.links[link].optic = optic;
    this.hosts = this.nodes.filter((n) => n.role === "host");
    this.byIndex = new Map(this.hosts.map((host) => [host.index, host]));
    this.named = new Map(this.nodes.map((node) => [node.name, node]));
    this.kinds = new Map(w.faults.map((f) => [f.name, f]));
    this.qps = w.queue_pairs;
  }

  hostNumbered(index) { return this.byIndex.get(index); }

  portName(ref) { return this.nodes[ref.node].name + ":" + this.nodes[ref.node].ports[ref.port]; }
  linkName(link) { return this.portName(link.a); }

  takeBranch(message) {
    if (!this.branches.has(message.branch)) {
      this.branches.set(message.branch, new Branch(message.branch, this.fabric.bins));
    }
    const branch = this.of(message.branch);
    // Up to the change the history is that of the branch before: what was seen of it stays true.
    const before = this.branch;
    if (before && before !== branch && branch.known === 0) {
      const whole = Math.floor(this.t / this.bin);
      for (let i = 0; i < whole; ++i) branch.bins[i] = before.bins[i];
    }
    // A world that happens now keeps its number when a fork leaves what it would have been as another one.
    if (message.other !== null && !this.branches.has(message.other)) {
      const left = new Branch(message.other, this.fabric.bins);
      for (let i = 0; i < Math.floor(message.forked_at_ps / this.bin); ++i) left.bins[i] = branch.bins[i];
      this.branches.set(message.other, left);
    }
    this.number = message.branch;
    this.other = message.other;
    this.forkedAt = message.forked_at_ps;
    branch.world = message.world;
    branch.lab = message.lab;
    branch.faults = message.faults;
    branch.transport = message.transport;
    for (const number of this.branches.keys()) {
      if (number !== this.number && number !== this.other) this.branches.delete(number);
    }
  }

  takeState(message) {
    this.t = message.t_ps;
    this.playing = message.playing;
    this.perSecond = message.per_second_ps;
    this.reached = message.reached_ps;
    this.goal = message.goal_ps;  // where a world of minutes is simulated to; null: it has come there
    this.cut = message.cut;  // {from_ps, why}: nothing is recorded from there on; null: no bound was met
    this.keptFrom = message.kept_from_ps;
    this.toldUntil = message.told_until_ps;
    this.asOf = performance.now();
  }

  takeSums(message) {
    const branch = this.of(message.branch);
    if (!branch) return;
    message.bins.forEach((bin, i) => {
      const at = message.first + i;
      branch.bins[at] = this.fabric.whole ? {...branch.bins[at], load: bin.load, queue: bin.queue} : bin;
    });
    if (!this.fabric.whole) branch.known = Math.max(branch.known, message.first + message.bins.length);
  }

  /// The instant that is shown: between two reports the clock goes on by itself.
  now() {
    if (!this.playing) return this.t;
    const ahead = (performance.now() - this.asOf) * this.perSecond / 1000;
    return Math.min(this.t + Math.min(ahead, this.perSecond * 0.2), this.end, this.reached);
  }

  binAt(t, branch = this.branch) { return branch?.bins[Math.floor(t / this.bin)]; }

  /// Of all wires around t, by number: loads, 0 to 1, and queues, 0 to about 1 (trim threshold). Of the last instant
  /// that it was asked for; the next one is written over it.
  loads(t) {
    const branch = this.branch, at = Math.floor(t / this.bin), kept = this.loaded ??= {};
    if (kept.at === t && kept.branch === branch && kept.known === branch?.known) return kept;
    const count = this.wires.length;
    if (kept.load?.length !== count) Object.assign(kept, {load: new Float32Array(count), queue: new Float32Array(count)});
    Object.assign(kept, {at: t, branch, known: branch?.known});
    kept.load.fill(0);
    kept.queue.fill(0);
    let weights = 0;
    for (let i = 0; i < 4; ++i) {
      const bin = branch?.bins[at - i];
      if (!bin?.load) continue;
      const weight = i === 0 ? t / this.bin % 1 : 1;
      weights += weight;
      for (let wire = 0; wire < count; ++wire) kept.load[wire] += bin.load[wire] * weight;
      if (i < 2) for (let wire = 0; wire < count; ++wire) kept.queue[wire] = Math.max(kept.queue[wire], bin.queue[wire] / 200);
    }
    if (weights > 0) for (let wire = 0; wire < count; ++wire) kept.load[wire] /= weights * 255;
    return kept;
  }

  load(wire, t) {
    const {load, queue} = this.loads(t);
    return {load: load[wire], queue: queue[wire]};
  }

  /// Packets whose records lie in [from, to), as far as they are here; asks for the others.
  packets(link, from, to) {
    const branch = this.branch, found = [];
    if (!branch) return found;
    const last = Math.floor(Math.max(to, 0) / this.chunk);
    for (let i = Math.floor(Math.max(from, 0) / this.chunk); i <= last; ++i) {
      const chunk = branch.chunks.get(i);
      if (chunk?.packets) {
        chunk.used = performance.now();
        for (const p of chunk.packets) if (p.t >= from && p.t < to) found.push(p);
      }
      const whole = Math.min((i + 1) * this.chunk, this.end) <= this.reached;
      if (!chunk || (!chunk.whole && !chunk.asking && (whole || performance.now() - chunk.used > 400))) {
        this.fetch(link, branch, i, whole);
      }
    }
    return found;
  }

  /// Why packets in [from, to) need not all be known here, as half a sentence; null: they are. A panel states that there
  /// are none only where this is null.
  unseen(from, to) {
    if (from < this.keptFrom) return `packets before ${time(this.keptFrom)} are no longer kept`;
    const known = Math.min(to, this.end, this.reached), branch = this.branch;
    if (this.fabric.whole && !this.only) return "packets are looked at in a rack that is followed: choose one";
    for (let i = Math.floor(Math.max(from, 0) / this.chunk); i * this.chunk < known; ++i) {
      const chunk = branch.chunks.get(i);
      if (chunk?.problem) return chunk.problem;
      if (!chunk?.packets || chunk.until < Math.min(known, (i + 1) * this.chunk)) return kAsking;
    }
    if (known >= Math.min(to, this.end)) return null;
    return this.cut ? this.cut.why : `the world has come to ${time(this.reached)} so far`;
  }

  /// Why what hosts reported up to t need not all be known; null: it is.
  unheard(t) {
    return this.toldUntil !== null && t >= this.toldUntil ? `reports of hosts from ${time(this.toldUntil)} on were left out for lack of room` : null;
  }

  fetch(link, branch, index, whole) {
    if (index * this.chunk > this.reached || this.fabric.whole && !this.only) return;
    const before = branch.chunks.get(index);
    const until = Math.min((index + 1) * this.chunk, this.reached);  // at least so far goes the answer
    const chunk = {packets: before?.packets, until: before?.until ?? 0, whole: false, asking: true, used: performance.now()};
    branch.chunks.set(index, chunk);
    const from = index * this.chunk;
    link.ask({do: "packets", branch: branch.number, from_ps: from, to_ps: from + this.chunk, ...this.only})
      .then((answer) => { Object.assign(chunk, {packets: answer.packets, until, whole, asking: false, problem: null}); ++this.packetsAsOf; },
            (problem) => { Object.assign(chunk, {packets: chunk.packets || [], problem: problem.message, asking: false, used: performance.now()}); ++this.packetsAsOf; });
    if (branch.chunks.size > (this.fabric.whole ? kMaxRackChunks : kMaxChunks)) {
      const oldest = [...branch.chunks].sort((a, b) => a[1].used - b[1].used)[0][0];
      branch.chunks.delete(oldest);
    }
  }

  /// What is wrong with a wire or a node at t, by the schedule of faults: a list of {fault, effect, dark}.
  troubles(t) {
    const wires = new Map(), nodes = new Map();
    for (const fault of this.branch?.faults || []) {
      for (const hold of fault.impairments) {
        if (hold.from_ps > t || (hold.until_ps !== null && hold.until_ps <= t)) continue;
        const trouble = {fault, effect: hold.effect, dark: hold.dark};
        for (const wire of hold.wires) add(wires, wire, trouble);
        if (hold.node !== undefined) add(nodes, hold.node, trouble);
      }
    }
    return {wires, nodes};
  }
}

Object.assign(World.prototype, kWholeWorld);

function add(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}

/// A burst is handed to its senders in an instant; what follows are packets.
export const isAtOnce = (fault) => fault.until_ps === fault.from_ps;
export const us = (ps) => trimmed(ps / 1e6, 6) + "us";
export const bytes = (n) => n >= 1 << 20 ? trimmed(n / (1 << 20), 2) + " MiB" : n >= 1024 ? trimmed(n / 1024, 1) + " KiB" : n + " B";
