// Where everything is drawn: planes as Clos layers side by side, T1 above T0 above the hosts' ports, and
// every host once more as a card below. Pure: fabric and size in, places out.

const kCardHeight = 58, kGap = 12;
export const kLegend = 20;  // pixels between planes and hosts

/// `scale`: of letters, for which there must be room; `legend`: the height of what stands between planes and hosts.
/// `top`: pixels above the planes that are taken.
export function layoutOf(world, width, height, focus, scale = 1, legend = 0, top = 0) {
  const planes = panelNumbers(world);
  const cards = Math.min(kCardHeight * scale, height * 0.18);
  const area = {x: 8, y: 8 + top, w: width - 16, h: height - cards - 26 - top - Math.max(kLegend * scale, legend)};
  const panels = new Map();
  const chosen = focus?.plane;
  if (chosen !== undefined && planes.includes(chosen)) {
    const strip = width < 620 ? 0 : Math.min(150, area.w * 0.16);
    panels.set(chosen, {x: area.x + strip + (strip ? kGap : 0), y: area.y, w: area.w - strip - (strip ? kGap : 0), h: area.h});
    const others = planes.filter((p) => p !== chosen);
    const each = area.h / Math.max(others.length, 1);
    if (strip) others.forEach((p, i) => panels.set(p, {x: area.x, y: area.y + i * each, w: strip, h: each - 6, small: true}));
  } else {
    const columns = bestColumns(planes.length, area);
    const rows = Math.ceil(planes.length / columns);
    const w = (area.w - (columns - 1) * kGap) / columns, h = (area.h - (rows - 1) * kGap) / rows;
    planes.forEach((p, i) => panels.set(p, {x: area.x + i % columns * (w + kGap),
                                            y: area.y + Math.floor(i / columns) * (h + kGap), w, h}));
  }
  const places = {cardsTop: height - cards - 8, nodes: new Map(), ports: new Map(), links: [], optics: [], cards: [], panels};
  for (const [plane, panel] of panels) placePanel(world, plane, panel, places, scale);
  placeLinks(world, places);
  placeOptics(world, places);
  placeCards(world, places, {x: area.x, y: height - cards - 8, w: area.w, h: cards});
  return places;
}

/// Which panel a node is in: its plane.
function panelNumbers(world) {
  const numbers = new Set((world.shownNodes ?? world.nodes).filter((n) => n.role !== "host").map((n) => n.plane));
  return [...numbers].sort((a, b) => a - b);
}

/// Panels that are neither towers nor ribbons: a plane looks best about 1.25 as wide as high. A grid that comes out even
/// is worth more than that: four planes are 2 by 2, 4 by 1 or 1 by 4, never 3 and 1.
export function bestColumns(count, area) {
  let best = 1, least = Infinity;
  for (let columns = 1; columns <= count; ++columns) {
    const rows = Math.ceil(count / columns);
    const shape = (area.w / columns) / (area.h / rows);
    const cost = Math.abs(Math.log(shape / 1.25)) + (columns * rows - count) * 0.9;
    if (cost < least) [best, least] = [columns, cost];
  }
  return best;
}

function placePanel(world, plane, panel, places, scale) {
  const of = (role) => (world.shownNodes ?? world.nodes).filter((n) => n.role === role && n.plane === plane);
  const t2 = of("t2"), t1 = of("t1"), t0 = of("t0");
  // A panel beside the one that is shown alone has its title at its left.
  panel.title = panel.small ? Math.min(58 * scale, panel.w * 0.45) : 0;
  const top = panel.small ? 6 : 26 * scale, inner = panel.h - top - (panel.small ? 6 : 12);
  const free = {...panel, x: panel.x + panel.title, w: panel.w - panel.title};
  panel.plane = free.plane = plane;
  row(t2, free, panel.y + top + inner * 0.07, places, panel.small);
  row(t1, free, panel.y + top + inner * (t2.length ? 0.3 : 0.07), places, panel.small);
  row(t0, free, panel.y + top + inner * (t1.length ? 0.54 : 0.25), places, panel.small);
  // The hosts' ports, in the order of the T0 that they hang on.
  const ports = [];
  for (const host of world.hosts) {
    for (const link of host.links) {
      const end = link.a.node === host.id ? link : null;
      if (end && world.nodes[link.b.node].plane === plane) ports.push({host, link});
    }
  }
  const order = new Map(t0.map((n, i) => [n.id, i]));
  ports.sort((a, b) => order.get(a.link.b.node) - order.get(b.link.b.node) || a.host.index - b.host.index);
  const y = panel.y + top + inner * 0.95, step = free.w / Math.max(ports.length, 1);
  const size = Math.max(2, Math.min(step * 0.72, panel.small ? 6 : 24 * scale, inner * 0.14));
  ports.forEach(({host, link}, i) => {
    const place = {x: free.x + (i + 0.5) * step, y, w: size, h: Math.min(size, 20 * scale), host, link, panel: free, label: size >= 12.5};
    places.ports.set(host.id + ":" + link.a.port, place);
  });
}

function row(nodes, panel, y, places, small) {
  const step = panel.w / Math.max(nodes.length, 1);
  const w = Math.max(3, Math.min(step * 0.64, 74)), h = small ? 6 : Math.max(6, Math.min(26, panel.h * 0.11));
  nodes.forEach((node, i) => {
    places.nodes.set(node.id, {x: panel.x + (i + 0.5) * step, y, w, h, node, panel, label: !small && w >= 30});
  });
}

function placeLinks(world, places) {
  for (const link of world.links) {
    const a = world.nodes[link.a.node].role === "host"
        ? places.ports.get(link.a.node + ":" + link.a.port) : places.nodes.get(link.a.node);
    const b = places.nodes.get(link.b.node);
    if (!a || !b) continue;
    // A link leaves a switch where its neighbour is, so that lines fan out.
    const x1 = anchor(a, b.x), x2 = anchor(b, a.x), below = a.y > b.y;
    const y1 = a.y + (below ? -a.h / 2 : a.h / 2), y2 = b.y + (below ? b.h / 2 : -b.h / 2);
    // Its wires lie side by side, each (ox, oy) from the middle.
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, apart = (a.panel.small ? 0.7 : 2) / length;
    places.links[link.id] = {link, x1, y1, x2, y2, ox: (y1 - y2) * apart, oy: (x2 - x1) * apart, panel: a.panel};
  }
}

function anchor(place, toward) {
  if (place.host) return place.x;
  const reach = place.panel.w * 0.9;
  return place.x + Math.max(-0.42, Math.min(0.42, (toward - place.x) / reach)) * place.w;
}

function placeOptics(world, places) {
  for (const optic of world.optics) {
    const lines = optic.links.map((id) => places.links[id]).filter(Boolean);
    if (!lines.length || lines[0].panel.small) continue;
    // A fifth of the way down, but not over the switch.
    const long = Math.abs(lines[0].y1 - lines[0].y2) || 1, h = Math.min(8, Math.max(4, long * 0.18));
    const share = Math.min(0.5, Math.max(0.2, (h / 2 + 4) / long));
    const at = (l) => ({x: l.x2 + (l.x1 - l.x2) * share, y: l.y2 + (l.y1 - l.y2) * share});
    const points = lines.map(at);
    const xs = points.map((p) => p.x);
    const left = Math.min(...xs), right = Math.max(...xs);
    places.optics.push({optic, x: left, y: points[0].y - h / 2, w: right - left, h, panel: lines[0].panel});
  }
  spreadOptics(places.optics);
}

/// Each optic stands out by up to 7 pixels beside its links, and no further than half way to the next one. Those whose
/// links lie between those of others go below one another.
function spreadOptics(optics) {
  const rows = new Map();
  for (const o of optics) {
    const key = `${o.panel.plane} ${Math.round(o.y)}`;
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(o);
  }
  for (const row of rows.values()) {
    row.sort((a, b) => a.x - b.x);
    const ends = [];  // of the levels, how far to the right they are taken
    for (const o of row) {
      const right = o.x + o.w, level = ends.findIndex((end) => end < o.x);
      o.level = level < 0 ? ends.length : level;
      ends[o.level] = right;
    }
    for (let level = 0; level < ends.length; ++level) {
      const own = row.filter((o) => o.level === level);
      own.forEach((o, i) => {
        o.before = i === 0 ? 7 : (o.x - own[i - 1].x - own[i - 1].w) / 2 - 0.5;
        o.after = i === own.length - 1 ? 7 : (own[i + 1].x - o.x - o.w) / 2 - 0.5;
      });
      if (own.length > 1) Object.assign(own[0], {before: own[0].after}), Object.assign(own.at(-1), {after: own.at(-1).before});
    }
    for (const o of row) {
      const before = Math.max(0, Math.min(7, o.before)), after = Math.max(0, Math.min(7, o.after));
      Object.assign(o, {x: o.x - before, w: o.w + before + after, y: o.y + o.level * (o.h + 2)});
    }
  }
}

function placeCards(world, places, area) {
  const step = area.w / Math.max(world.hosts.length, 1);
  world.hosts.forEach((host, i) => {
    places.cards.push({host, x: area.x + i * step + Math.min(4, step * 0.08), y: area.y,
                       w: step - Math.min(8, step * 0.16), h: area.h, label: step >= 40});
  });
}

/// Pixels: a pointer that is so near to a thing means it. Beside a plane that is shown alone the others are only pointed at.
const kReach = {node: 4, port: 4, optic: 8, link: 6};
/// How far a point is from a box around (x, y), or from its left top corner on; 0 inside.
const away = (x, y, left, top, w, h) => Math.hypot(Math.max(left - x, x - left - w, 0), Math.max(top - y, y - top - h, 0));

/// What is at a point: {what, ..., away}, the nearest thing; null for nothing. `away`: pixels from it, 0 inside.
export function hit(places, x, y) {
  let best = null, least = Infinity;
  const take = (d, found) => {
    if (d < least && d <= (found.place.panel.small ? 1 : kReach[found.what])) [best, least] = [{...found, away: d}, d];
  };
  for (const p of places.nodes.values()) take(away(x, y, p.x - p.w / 2, p.y - p.h / 2, p.w, p.h), {what: "node", node: p.node, place: p});
  for (const p of places.ports.values()) take(away(x, y, p.x - p.w / 2, p.y - p.h / 2, p.w, p.h), {what: "port", link: p.link, host: p.host, place: p});
  for (const o of places.optics) take(away(x, y, o.x, o.y, o.w, o.h), {what: "optic", optic: o.optic, place: o});
  if (best) return best;
  for (const c of places.cards) {
    if (x >= c.x && x <= c.x + c.w && y >= c.y && y <= c.y + c.h) return {what: "host", node: c.host, place: c, away: 0};
  }
  for (const l of places.links) if (l && !l.panel.small) take(distance(l, x, y), {what: "link", link: l.link, place: l});
  if (best) return best;
  for (const [plane, p] of places.panels) {
    if (x >= p.x && x <= p.x + p.w && y >= p.y && y <= p.y + p.h) return {what: "plane", plane, place: p, away: 0};
  }
  return null;
}

function distance(l, x, y) {
  const dx = l.x2 - l.x1, dy = l.y2 - l.y1, length = dx * dx + dy * dy || 1;
  const f = Math.max(0, Math.min(1, ((x - l.x1) * dx + (y - l.y1) * dy) / length));
  return Math.hypot(x - l.x1 - f * dx, y - l.y1 - f * dy);
}
