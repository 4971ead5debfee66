// What is known of a fabric that is too large to be shown packet by packet: its switches by place, what they did window by
// window, where faults are. Methods of World (world.js).
//
// A place is a switch's number in the server's list. A rack is the hosts at the T0s of one number.

export const kMeasures = [["load", "sent by all ports, of their line rate"], ["queue", "the longest queue, of the trim threshold"], ["lost", "packets lost"],
                          ["trimmed", "packets trimmed"], ["marked", "packets marked"]];
const kWord = {t0: "T0", t1: "T1", t2: "T2"};

export const kWholeWorld = {
  takeReached(message) {
    this.reached = message.reached_ps;
    this.goal = message.goal_ps;
    this.keptFrom = message.kept_from_ps;
    this.toldUntil = message.told_until_ps;
    if (message.goal_ps !== null) this.t = message.t_ps;
  },

  takeTally(message) {
    const branch = this.of(message.branch);
    if (!branch) return;
    message.windows.forEach((window, i) => { branch.bins[message.first + i] = {...branch.bins[message.first + i], ...window}; });
    branch.known = Math.max(branch.known, message.first + message.windows.length);
  },

  /// Shows the packets of this rack, or of this host of it, alone; null: of none.
  showOnly(only) {
    if (JSON.stringify(only) === JSON.stringify(this.only)) return;
    this.only = only;
    for (const branch of this.branches.values()) branch.chunks.clear();
    ++this.packetsAsOf;
  },

  /// The window that shows an instant: the one that it is in, or where that is not over the one before.
  windowAt(t, branch = this.branch) {
    const at = Math.floor(t / this.bin);
    for (const i of [at, at - 1, at - 2]) if (branch?.bins[i]?.cells) return {...branch.bins[i], number: i};
    return null;
  },

  placeOf(plane, role, index) {
    const tier = this.fabric.whole.tiers.find((x) => x.role === role);
    return tier && index < tier.count && plane < tier.first.length ? tier.first[plane] + index : null;
  },

  /// {plane, role, index, name, word, rack} of a place.
  switchAt(place) {
    for (const {role, count, first} of this.fabric.whole.tiers) {
      const plane = first.findIndex((x) => place >= x && place < x + count);
      if (plane < 0) continue;
      const index = place - first[plane];
      return {place, plane, role, index, name: `p${plane}.${role}-${index}`, word: kWord[role], rack: role === "t0" ? index : null};
    }
    return null;
  },

  rackOf(host) { return Math.floor(host / this.fabric.whole.hosts_per_rack); },
  isFollowed(rack) { return this.fabric.whole.followed.includes(rack); },
  hostsOf(rack) {
    const {hosts_per_rack: each, hosts} = this.fabric.whole;
    return [rack * each, Math.min((rack + 1) * each, hosts) - 1];
  },

  /// A cell of a window: {load, queue: shares, lost, trimmed, marked: packets}.
  cellOf(window, place) {
    const {bytes, counts} = window.cells;
    return {load: bytes[8 * place] / 255, queue: bytes[8 * place + 1] / 200, lost: counts[4 * place + 1], trimmed: counts[4 * place + 2], marked: counts[4 * place + 3]};
  },

  /// What is wrong at t, by place and by host number: {fault, effect, dark, links}; links 0: the thing itself.
  placesInTrouble(t) {
    const switches = new Map(), hosts = new Map();
    const add = (map, key, value) => { map.has(key) ? map.get(key).push(value) : map.set(key, [value]); };
    for (const fault of this.branch?.faults ?? []) {
      for (const held of fault.places) {
        if (held.from_ps > t || held.until_ps !== null && held.until_ps <= t) continue;
        const trouble = {fault, effect: held.effect, dark: held.dark};
        for (const [place, links] of held.switches) add(switches, place, {...trouble, links});
        for (const [host, links] of held.hosts) add(hosts, host, {...trouble, links});
      }
    }
    return {switches, hosts};
  },

  /// Of a plane, or where a rack is shown of its T0 there; null: not known.
  sumsOf(plane, t, rack) {
    if (!this.fabric.whole) return this.binAt(t)?.planes[plane] ?? null;
    const window = this.windowAt(t);
    if (!window) return null;
    return rack === undefined ? window.planes[plane] : this.cellOf(window, this.placeOf(plane, "t0", rack));
  },

  /// The fabric as its rack, or one host of it, is drawn: lists of nodes, hosts, links and optics.
  scopeOf(rack, host) {
    const within = Object.create(this), hosts = host === undefined ? this.hosts.filter((h) => this.rackOf(h.index) === rack) : [this.nodes[host]];
    const own = new Set([...hosts, ...this.nodes.filter((n) => n.role === "t0" && n.index === rack)]);
    within.hosts = hosts;
    within.links = this.links.filter((l) => own.has(this.nodes[l.a.node]) && (own.has(this.nodes[l.b.node]) || this.nodes[l.a.node].role === "t0"));
    const next = new Set(within.links.flatMap((l) => [this.nodes[l.a.node], this.nodes[l.b.node]]));
    within.shownNodes = this.nodes.filter((n) => own.has(n) || next.has(n));
    const shown = new Set(within.links.map((l) => l.id));
    within.optics = this.optics.filter((o) => o.links.every((id) => shown.has(id)));
    return within;
  },
};
