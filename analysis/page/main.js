// Draws the page, and reports success or failure.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

// ---- together ----------------------------------------------------------------------------------

/// What a test reads: errors, whether all charts have drawn, whether anything is too wide.
function selfCheck() {
  const hasInk = (canvas) => canvas.width > 0 && canvas.height > 0 &&
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v, i) => i % 4 === 3 && v > 0);
  const drawn = charts.filter((g) => hasInk(g.graphDiv.querySelector("canvas"))).length + canvases.filter(hasInk).length;
  const root = document.documentElement;
  const cut = [...document.querySelectorAll(".scroll")].filter((box) => {
    const end = box.getBoundingClientRect().bottom;
    return [...box.querySelectorAll("tr, li")].some((row) => {
      const {top, bottom} = row.getBoundingClientRect();
      return top < end - 2 && bottom > end + 2;
    });
  });
  Object.assign(root.dataset, {ready: "yes", errors: String(pageErrors.length), error: pageErrors.join(" | "),
    charts: String(charts.length + canvases.length), drawn: String(drawn), width: String(innerWidth),
    cutRows: String(cut.length), contents: String(document.querySelectorAll("nav.contents a").length),
    requests: String(performance.getEntriesByType("resource").length),
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    tooWide: root.scrollWidth > innerWidth + 1 ? "yes" : "no"});
}

if (data.a) comparePage(data);
else if (data.transports) transportsPage(data);
else reportPage(data);
synchronize();
/// A box that scrolls ends with a whole row.
function endWithRows() {
  for (const box of document.querySelectorAll(".scroll")) {
    box.style.maxHeight = "";
    const most = box.clientHeight, top = box.getBoundingClientRect().top;
    if (box.scrollHeight <= most + 1) continue;
    const ends = [...box.querySelectorAll("tr, li")].map((row) => row.getBoundingClientRect().bottom - top + box.scrollTop).filter((end) => end <= most);
    if (ends.length) box.style.maxHeight = Math.ceil(ends.at(-1)) + "px";
  }
}
endWithRows();
addEventListener("resize", endWithRows);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const g of charts) g.updateOptions({axisLineColor: css("--line"), gridLineColor: css("--line")});
  for (const redraw of redraws) redraw();
});
requestAnimationFrame(selfCheck);
setTimeout(selfCheck, 50);
