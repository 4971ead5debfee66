// Draws the page, and reports success or failure.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, report, compare, transports, main (report.html).

// ---- together ----------------------------------------------------------------------------------

/// What a test reads: errors, whether all charts have drawn, whether anything is too wide.
function selfCheck() {
  const hasInk = (canvas) => canvas.width > 0 && canvas.height > 0 &&
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 0);
  const drawn = charts.filter((g) => hasInk(g.graphDiv.querySelector("canvas"))).length + canvases.filter(hasInk).length;
  const root = document.documentElement;
  Object.assign(root.dataset, {ready: "yes", errors: String(pageErrors.length), error: pageErrors.join(" | "),
    charts: String(charts.length + canvases.length), drawn: String(drawn), width: String(innerWidth),
    requests: String(performance.getEntriesByType("resource").length),
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    tooWide: root.scrollWidth > innerWidth + 1 ? "yes" : "no"});
}

if (data.a) comparePage(data);
else if (data.transports) transportsPage(data);
else reportPage(data);
synchronize();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const g of charts) g.updateOptions({axisLineColor: css("--line"), gridLineColor: css("--line")});
  for (const redraw of redraws) redraw();
});
requestAnimationFrame(selfCheck);
setTimeout(selfCheck, 50);
