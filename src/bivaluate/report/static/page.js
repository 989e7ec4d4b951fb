"use strict";
/* Put the page together. */
(function () {
  const { data } = R, isRun = data.kind === "run";

  /* The table of solutions: one row per group over seeds, or per seed. */
  const table = document.getElementById("solution-table") || R.make("div"), controls = R.make("div", { class: "controls" }), body = R.make("div");
  table.append(controls, body);
  const unique = (values) => [...new Set(values)];
  const select = (label, values, all) => {
    const box = R.make("select", {}, R.make("option", { value: "" }, all), ...values.map((v) => R.make("option", { value: v }, String(v))));
    controls.append(R.field(label, box));
    return box;
  };
  const search = R.make("input", { type: "search", placeholder: "name, K, status …" });
  controls.append(R.field("Filter", search));
  const ofDataset = data.datasets.length > 1 ? select("Data set", data.datasets, "all") : null;
  const ofAlgorithm = isRun && data.algorithms.length > 1 ? select("Algorithm", data.algorithms, "all") : null;
  const seeds = isRun && data.groups.some((g) => g.seeds > 1);
  const each = R.make("input", { type: "checkbox" });
  if (seeds) controls.append(R.make("label", { class: "check" }, each, "each seed on its own row"));

  const statusText = (status) => Object.entries(status).map(([name, count]) => [name === "degenerate" ? `${data.symbols.nve} undefined` : name, count]).map(([name, count]) => (Object.keys(status).length === 1 ? name : `${count} ${name}`)).join(", ");
  const wide = data.measures.length > 16, everything = R.make("input", { type: "checkbox" });
  if (wide) controls.append(R.make("label", { class: "check" }, everything, `all ${data.measures.length} measures`));
  const brief = new Set([...data.main, "n_biclusters"]);
  const measures = () => data.measures.filter((m) => !wide || everything.checked || brief.has(m.key)).map((m) => ({ key: m.key, label: m.symbol, direction: m.direction, help: R.help(m), numeric: true, percent: m.percent, bar: m.direction !== "none" }));
  function columns(perSeed) {
    const first = isRun ? [{ key: "algorithm", label: "algorithm" }, { key: "k", label: "K", numeric: true, help: "Number of biclusters asked for; found is how many there were" }] : [{ key: "algorithm", label: "solution" }];
    if (data.datasets.length > 1) first.unshift({ key: "dataset", label: "data set" });
    if (perSeed) first.push({ key: "seed", label: "seed", numeric: true });
    const [found, rest] = [true, false].map((is) => measures().filter((m) => (m.key === "n_biclusters") === is));
    return [...first, ...found, ...rest, { key: "status", label: "status" }];
  }
  function rows(perSeed) {
    return data.groups.flatMap((g) => {
      const start = { dataset: g.dataset, algorithm: g.anchor ? { value: g.algorithm, link: g.anchor } : g.algorithm, k: g.k };
      const text = (status) => `${g.dataset} ${g.name} ${status}`.toLowerCase();
      if (perSeed) {
        return g.members.map((index) => {
          const [seed, status, reason, values, best] = data.solutions[index];
          const cells = data.measures.map((m, i) => [m.key, { value: values[i], best: best.includes(m.key), why: reason || g.reasons[m.key] }]);
          return { ...start, seed, status: reason ? { value: statusText({ [status]: 1 }), tip: reason } : status, ...Object.fromEntries(cells), search: text(status), of: g, among: g.dataset };
        });
      }
      const cells = data.measures.map((m, i) => [m.key, { value: g.mean[i], spread: g.spread[i], best: g.first.includes(m.key), why: g.reasons[m.key], beside: R.nullOf(g, m.key)?.p, tip: [g.counted[i] === g.seeds ? "" : g.counted[i] === 0 ? `takes no part: ${g.reasons[m.key]}` : `mean of ${g.counted[i]} of ${g.seeds} seeds; else ${g.reasons[m.key]}`, R.nullOf(g, m.key)?.text].filter(Boolean).join("\n") || null }]);
      const status = statusText(g.status);
      return [{ ...start, status: g.reason ? { value: status, tip: g.reason } : status, ...Object.fromEntries(cells), search: text(status), of: g, among: g.dataset }];
    });
  }
  /* Best first, data set by data set. */
  const place = new Map(data.datasets.map((name, i) => [name, i]));
  const ranked = (list) => list.sort((a, b) => place.get(a.of.dataset) - place.get(b.of.dataset) || a.of.rank - b.of.rank);
  let shown = null;
  const test = (row) => search.value.toLowerCase().split(/\s+/).every((word) => row.search.includes(word)) && (!ofDataset?.value || row.of.dataset === ofDataset.value) && (!ofAlgorithm?.value || row.of.algorithm === ofAlgorithm.value);
  function build() {
    shown = R.table(body, { caption: each.checked ? "Solutions, each seed" : seeds ? "Solutions, mean over seeds" : "Solutions", columns: columns(each.checked), rows: ranked(rows(each.checked)) });
    shown.filter(test);
  }
  build();
  [each, everything].forEach((box) => box.addEventListener("change", build));
  [search, ofDataset, ofAlgorithm].forEach((control) => control?.addEventListener("input", () => shown.filter(test)));

  /* The comparison. */
  const charts = document.getElementById("compare-charts") || R.make("div"), panel = R.make("div", { class: "controls" });
  const defined = data.groups.filter((g) => data.main.some((key) => R.value(g, key) !== null));
  const ks = unique(data.groups.map((g) => g.k)), hasMap = data.groups.some((g) => g.nve_k.some(([, v]) => v !== null));
  const pick = R.make("select", {}, ...data.datasets.map((name) => R.make("option", { value: name }, name)));
  if (data.datasets.length > 1) panel.append(R.field("Data set in the pictures below", pick));
  const inView = () => data.groups.filter((g) => g.dataset === (pick.value || data.datasets[0]));
  const updates = [];

  if (data.groups.length > 1 && defined.length) {
    const host = R.make("div");
    charts.append(R.titled("Winners", data.datasets.length > 1 ? `How many of ${data.datasets.length} data sets each wins under each measure, by the best mean over seeds at any K.` : "Best value of each under each measure; the winner is shaded and bold.", host));
    R.winners(host, data.groups);
  }
  if (data.datasets.length > 1) charts.append(panel);
  if (defined.filter((g) => R.value(g, "nve") !== null && R.value(g, "coverage") > 0).length > 1) {
    const host = R.make("div");
    const named = isRun ? [R.legend(data.algorithms)] : [];
    charts.append(R.figure("Trade-off", `Clean or complete? Further right covers more of the matrix, further down is more distinct and coherent.${data.criterion === "total_evidence" ? " Neither says whether chance would give the same: the choice is by evidence." : ""}${isRun ? " Marks grow with K, and the numbers beside them are K." : " Marks grow with the number of biclusters."}`, ...named, host));
    const draw = (width) => { const points = inView(); if (points.some((g) => R.value(g, "nve") !== null && R.value(g, "coverage") > 0)) R.tradeoff(host, points, width); else host.replaceChildren(R.make("p", { class: "caption" }, `No solution of this data set has a defined ${data.symbols.nve}.`)); };
    updates.push(() => host.clientWidth && draw(host.clientWidth));
    R.picture(host, draw);
  }
  if (isRun && ks.length > 1 && defined.length) {
    const spread = seeds ? " Bands are one standard deviation over the seeds." : "";
    const calm = data.nulls.length ? " Dotted lines are the same algorithms on surrogate matrices without structure, grey bands the central 90 % of them: only what lies beyond means anything. Point at a mark for the gap and its p-value." : " There are no null runs beside these curves: how a measure moves with K depends on the algorithm, too.";
    const multiples = (keys) => R.make("div", { class: "multiples" }, ...keys.map((key) => {
      const m = R.measure[key], host = R.make("div");
      const draw = (width) => R.sweepPanel(host, key, inView(), data.nulls.filter((n) => n.dataset === (pick.value || data.datasets[0])), width);
      updates.push(() => host.clientWidth && draw(host.clientWidth));
      R.picture(host, draw);
      return R.make("div", {}, R.make("h4", { "data-tip": R.help(m) }, ...R.lowered(m.symbol), R.make("span", {}, m.direction === "none" ? "" : ` ${R.better[m.direction]}`)), host);
    }));
    const rest = data.measures.map((m) => m.key).filter((key) => !data.main.includes(key) && R.measure[key].direction !== "none");
    const more = rest.length ? R.make("details", {}, R.make("summary", {}, `${rest.length} more measures`), multiples(rest)) : null;
    more?.addEventListener("toggle", R.redraw);
    const bands = data.nulls.length ? R.nullTable() : null;
    charts.append(R.figure("K-sweep", `Each measure against the number of biclusters asked for; a ring marks the best.${spread}${calm}`, R.legend(data.algorithms), multiples(data.main), ...[more, bands].filter(Boolean)));
  }
  if (hasMap) {
    const host = R.make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${data.symbols.nve} map` }), chooseK = R.make("select");
    const groupsAt = () => inView().filter((g) => !isRun || String(g.k) === chooseK.value);
    const fill = () => {
      const mine = unique(inView().map((g) => g.k)).sort(d3.ascending), best = R.winner(inView(), data.criterion);
      chooseK.replaceChildren(...mine.map((k) => R.make("option", { value: k }, String(k))));
      chooseK.value = String(best ? best.k : mine[0]);
    };
    const draw = () => R.nveMap(host, groupsAt());
    fill();
    chooseK.addEventListener("input", draw);
    updates.push(() => { fill(); draw(); });
    const cut = data.groups.some((g) => g.nve_k.length === data.most_mapped) ? ` The first ${data.most_mapped} biclusters of each are drawn.` : "";
    charts.append(R.figure(`${data.symbols.nve} of each bicluster`, `Each bicluster's ${data.symbols.ve} over the ${data.symbols.ve} of its nearest merger. Fainter and smaller is better; near 1 a bicluster follows no profile across columns that its merger does not. Biclusters that are not supported are left blank.${seeds ? " Each row is the best seed." : ""}${cut}`, isRun && ks.length > 1 ? R.make("div", { class: "controls" }, R.field("K", chooseK)) : "", host));
    R.picture(host, draw);
  }
  pick.addEventListener("input", () => updates.forEach((update) => update()));
  if (!charts.querySelector(".chart")) document.querySelectorAll(".needs-data").forEach((element) => element.remove());

  /* What was judged, on top; solutions are drawn when they are opened. */
  const top = document.getElementById("judged-map"), curve = document.getElementById("k-curve");
  if (top) R.mapPart(top, data.details[data.shown]);
  if (curve) R.kCurve(curve, data.curve);
  const drawOpen = (box) => {
    if (!box.open || box.dataset.drawn) return;
    box.dataset.drawn = "true";
    R.solution(box, data.details[Number(box.dataset.position)]);
  };
  document.querySelectorAll("details.solution").forEach((box) => {
    drawOpen(box);
    box.addEventListener("toggle", () => { drawOpen(box); R.redraw(); });
  });
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target instanceof HTMLDetailsElement ? target : target?.querySelector(".reading");
    if (!fold) return;
    fold.open = true;
    if (fold === target) drawOpen(target);
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  /* Colours, size, printing, copying, and where the reader is. */
  const theme = document.getElementById("theme");
  const setTheme = (name) => {
    document.documentElement.dataset.theme = name;
    theme.textContent = name === "dark" ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Change to ${name === "dark" ? "light" : "dark"} colours`);
    R.redraw();
  };
  setTheme(document.documentElement.dataset.theme);
  theme.addEventListener("click", () => setTheme(R.isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  let before = null, unfolded = [];
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    unfolded = [...document.querySelectorAll("details.fold:not([open]):not(.measures):not(.reading)")];
    unfolded.forEach((fold) => { fold.open = true; });
    setTheme("light");
  });
  addEventListener("afterprint", () => { unfolded.forEach((fold) => { fold.open = false; }); setTheme(before || "light"); });
  let width = innerWidth, waiting = null;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(R.redraw, 120);
  });
  document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));
  const links = new Map([...document.querySelectorAll(".side a")].map((a) => [a.getAttribute("href").slice(1), a]));
  const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    const here = scrollY < 60 ? "verdict" : entry.target.id;
    links.forEach((a, id) => (id === here ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current")));
  }), { rootMargin: "-10% 0px -85% 0px" });
  document.querySelectorAll("main > section").forEach((section) => watcher.observe(section));
  R.plainTables();
  document.documentElement.dataset.ready = "true";
})();
