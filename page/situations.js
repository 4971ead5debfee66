// Situations that a key sets up: the fault that teaches most about them, where there is traffic now, at a speed at
// which packets can be followed. Methods of the page (main.js).

import {bodyOf, kindsFor} from "./menu.js";

const kSpeed = 2e6;  // ps of fabric time per second

const loadOf = (page, link) => {
  const {load} = page.world.loads(page.world.now());
  return load[link.wires[0]] + load[link.wires[1]];
};
const busiest = (things, load) => things.reduce((best, thing) => best === null || load(thing) > load(best) ? thing : best, null);
const uplinks = ({world}) => world.links.filter((l) => world.nodes[l.a.node].role !== "host");
const opticLoad = (page) => (optic) => optic.links.reduce((sum, id) => sum + loadOf(page, page.world.links[id]), 0);
const received = (page) => (host) => host.links.reduce((sum, l) => sum + page.world.loads(page.world.now()).load[l.wires[1]], 0);

/// `on`: what the fault is about, of all that it could be.
export const kSituations = [
  {id: "optic_glitch", key: "g", kind: "optic_glitch", text: "the busiest optic glitches", on: (p) => busiest(p.world.optics, opticLoad(p))},
  {id: "uplink_down", key: "u", kind: "link_down", text: "the busiest link between switches goes down", on: (p) => busiest(uplinks(p), (l) => loadOf(p, l))},
  {id: "black_hole", key: "k", kind: "blackhole", text: "the busiest link between switches loses all, and no port notices", on: (p) => busiest(uplinks(p), (l) => loadOf(p, l))},
  {id: "incast", key: "i", kind: "incast", text: "the host that receives most gets a burst from all others", on: (p) => busiest(p.world.hosts, received(p))},
  {id: "plane_down", key: "o", kind: "plane_down", text: "a plane is gone", on: (p) => p.planeThing(p.fabric.focus?.plane ?? p.world.fabric.planes - 1)},
];

export const kSettingUp = {
  async setUp(situation) {
    const thing = situation.on(this), kinds = thing ? await kindsFor([thing], this).catch(() => []) : [];
    const found = kinds.find(({kind}) => kind.name === situation.kind);
    if (!found) return this.say(`This fabric has nothing for it: ${situation.text}.`);
    this.fabric.chosen = [thing];
    await this.breakIt(situation.kind, bodyOf(found.kind, found.target));
    this.link.say({do: "play", per_second_ps: kSpeed});
  },
};
