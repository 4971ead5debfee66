// What everything that draws on the fabric's canvases needs.

/// Does one of these troubles stop everything?
export const isDark = (troubles) => troubles.some((trouble) => trouble.dark);

export function listAt(map, key) {
  if (!map.has(key)) map.set(key, []);
  return map.get(key);
}

/// Strokes lines, given as x1, y1, x2, y2 and so on. Those of one pixel are fastest as one path, wider ones alone and
/// without round ends: by three and by three again, where there is no graphics card.
export function strokeLines(c, lines) {
  const one = c.lineWidth <= 1;
  c.beginPath();
  for (let i = 0; i < lines.length; i += 4) {
    c.moveTo(lines[i], lines[i + 1]);
    c.lineTo(lines[i + 2], lines[i + 3]);
    if (one) continue;
    c.stroke();
    c.beginPath();
  }
  if (one) c.stroke();
}

/// A box with round corners, where it is wide enough for them to be seen.
export function box(c, x, y, w, h, r) {
  c.beginPath();
  if (w < 8) c.rect(x, y, w, h);
  else c.roundRect(x, y, w, h, Math.max(0, Math.min(r, w / 2, h / 2)));
}
