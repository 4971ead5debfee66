// Small things that every part of the live page uses, beside common.js.

import {el} from "./common.js";

export const $ = (id) => document.getElementById(id);
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
}
/// A clause as a sentence: capital letter, full stop.
export const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.…]$/.test(text) ? "" : ".");
/// "1 port", "2 ports".
export const counted = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
/// A canvas of the size that it has on the screen, cleared; its context and size.
export function sized(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const w = Math.max(box.width, 10), h = Math.max(box.height, 10);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  return {c, w, h};
}
/// What no packet shows.
export const hostsWord = () => el("span", {class: "word", title: "no packet shows it: the host reported it"}, "reported by the host");
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
