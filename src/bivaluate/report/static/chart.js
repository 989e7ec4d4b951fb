"use strict";
/* What every picture shares: colours, symbols, axes, the tooltip, and drawing again when the page changes. */
R.SERIES = 16;
R.series = (position) => `var(--s${position % R.SERIES})`;
R.algorithmColour = (name) => R.series(R.data.algorithms.indexOf(name));
R.symbols = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolCross, d3.symbolStar, d3.symbolWye];
R.symbol = (name, size = 52) => d3.symbol(R.symbols[R.data.algorithms.indexOf(name) % R.symbols.length], size)();
R.isDark = () => document.documentElement.dataset.theme === "dark";
R.token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

R.diverging = (dark) => (dark ? d3.piecewise(d3.interpolateRgb, ["#8fd0ff", "#2f74ad", "#151b22", "#b25a2e", "#ffc09a"]) : (t) => d3.interpolateRdBu(1 - t));
R.sequential = (dark) => (dark ? d3.interpolateRgb("#1d2630", "#8ecbff") : d3.interpolateRgb("#f3f8fc", "#08478a"));
R.onto = (colour) => (d3.lab(colour).l > 58 ? "#10161d" : "#ffffff");

/** Pictures register how to draw themselves; they are drawn when visible in an open part of the page. */
R.pictures = [];
R.picture = function (host, draw) {
  const entry = { host, draw: () => { if (host.isConnected && host.clientWidth) draw(host.clientWidth); } };
  R.pictures.push(entry);
  queueMicrotask(entry.draw);
};
R.redraw = () => R.pictures.forEach((picture) => picture.draw());

R.svg = (width, height, label) => d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", label);

R.axisX = (g, scale, height, ticks, format) => g.append("g").attr("transform", `translate(0,${height})`).attr("aria-hidden", "true")
  .call(d3.axisBottom(scale).ticks(ticks, format).tickSize(4).tickPadding(5)).call((a) => a.select(".domain").remove());
R.axisY = (g, scale, width, ticks, format) => g.append("g").attr("aria-hidden", "true")
  .call(d3.axisLeft(scale).ticks(ticks, format).tickSize(-width).tickPadding(6)).call((a) => a.select(".domain").remove());

R.legend = function (names) {
  return R.make("ul", { class: "legend" }, ...names.map((name) => {
    const svg = d3.create("svg").attr("width", 14).attr("height", 14).attr("aria-hidden", "true");
    svg.append("path").attr("d", R.symbol(name)).attr("transform", "translate(7,7)").attr("fill", R.algorithmColour(name));
    return R.make("li", {}, svg.node(), name);
  }));
};

/** A table among the figures: with a title and a caption, and buttons of its own. */
R.titled = (title, caption, host) => R.make("div", { class: "chart" }, R.make("h3", {}, title), R.make("p", { class: "caption" }, caption), host);

/** A titled picture with a caption, ready to be filled. */
R.figure = function (title, caption, ...content) {
  const drawn = R.make("div", {}, ...content);
  return R.make("div", { class: "chart" }, R.make("div", { class: "above" }, R.make("h3", {}, title), R.pictureButtons(() => drawn, title)), R.make("p", { class: "caption" }, caption), drawn);
};

R.tip = (function () {
  const box = document.getElementById("tip");
  function place(x, y) {
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(6, Math.min(x + 14, innerWidth - width - 6));
    const top = y + height + 24 > innerHeight ? Math.max(6, y - height - 12) : y + 16;
    box.style.left = `${left}px`;
    box.style.top = `${top}px`;
  }
  const show = (text, x, y) => { box.textContent = text; box.hidden = false; place(x, y); };
  const hide = () => { box.hidden = true; };
  const owner = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  document.addEventListener("pointermove", (event) => {
    const element = owner(event);
    if (element) show(element.dataset.tip, event.clientX, event.clientY);
    else if (!event.target.closest?.("[data-tips]")) hide();
  });
  document.addEventListener("focusin", (event) => {
    const element = owner(event);
    if (!element || !element.matches(":focus-visible")) return hide();
    const rect = element.getBoundingClientRect();
    show(element.dataset.tip, rect.left, rect.bottom - 8);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { passive: true });
  return { show, hide };
})();
