"use strict";
/* Comparison of solutions: K-sweep, trade-off plane, winners, and the NVE map of the paper. Who wins comes with the data. */
R.value = (group, key, what = "mean") => (R.measure[key] ? group[what][R.measure[key].index] : null);
R.winner = (groups, key) => groups.find((g) => g.first.includes(key)) ?? null;
R.label = (group) => (R.data.kind === "run" ? group.called.replace(/ = /, "\u00a0=\u00a0") : group.algorithm);

R.sweepPanel = function (host, key, groups, nulls, width) {
  const m = R.measure[key], height = 178, margin = { top: 8, right: 12, bottom: 26, left: 44 };
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const ks = [...new Set(groups.map((g) => g.k))].sort(d3.ascending);
  const points = groups.filter((g) => R.value(g, key) !== null);
  const clip = (v) => Math.max(m.range[0] ?? -Infinity, Math.min(m.range[1] ?? Infinity, v));
  const span = (g) => { const s = R.value(g, key, "spread") || 0; return [clip(R.value(g, key) - s), clip(R.value(g, key) + s)]; };
  const bands = nulls.filter((n) => n.mean[m.index] !== null);
  const values = points.flatMap(span).concat(bands.flatMap((n) => [n.low[m.index], n.high[m.index]]));
  const svg = R.svg(width, height, `${m.symbol} against K for ${R.data.algorithms.join(", ")}; the numbers are in the table of solutions`);
  const g = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
  const x = d3.scalePoint(ks, [0, inner.width]).padding(0.25);
  const y = d3.scaleLinear([d3.min(values) ?? 0, d3.max(values) ?? 1], [inner.height, 0]).nice(4);
  R.axisY(g, y, inner.width, 4, m.percent ? ".0%" : undefined);
  R.axisX(g, x, inner.height);
  for (const name of R.data.algorithms) {
    const colour = R.algorithmColour(name);
    const nullLine = bands.filter((n) => n.algorithm === name).sort((a, b) => a.k - b.k);
    if (nullLine.length) {
      g.append("path").datum(nullLine).attr("fill", "var(--quiet)").attr("fill-opacity", 0.12)
        .attr("d", d3.area((n) => x(n.k), (n) => y(n.low[m.index]), (n) => y(n.high[m.index])));
      g.append("path").datum(nullLine).attr("fill", "none").attr("stroke", colour).attr("stroke-dasharray", "2 3")
        .attr("d", d3.line((n) => x(n.k), (n) => y(n.mean[m.index])));
    }
    const line = points.filter((p) => p.algorithm === name).sort((a, b) => a.k - b.k);
    g.append("path").datum(line).attr("fill", colour).attr("fill-opacity", "var(--band)")
      .attr("d", d3.area((p) => x(p.k), (p) => y(span(p)[0]), (p) => y(span(p)[1])));
    g.append("path").datum(line).attr("fill", "none").attr("stroke", colour).attr("stroke-width", 1.8)
      .attr("d", d3.line((p) => x(p.k), (p) => y(R.value(p, key))));
    g.selectAll(null).data(line).join("path").attr("class", "point").attr("d", R.symbol(name, 40)).attr("fill", colour)
      .attr("transform", (p) => `translate(${x(p.k)},${y(R.value(p, key))})`)
      .attr("data-tip", (p) => R.pointTip(p, [key]));
  }
  const best = R.winner(points, key);
  if (best) {
    g.append("circle").attr("cx", x(best.k)).attr("cy", y(R.value(best, key))).attr("r", 8).attr("fill", "none")
      .attr("stroke", "var(--ink)").attr("stroke-width", 1.2).attr("pointer-events", "none");
  }
  g.append("text").attr("x", inner.width).attr("y", inner.height + 27).attr("text-anchor", "end").text("K");
  host.replaceChildren(svg.node());
};

/** The measure that chooses against K, for the algorithm chosen; the K that are as good are shaded. */
R.kCurve = function (host, curve) {
  const many = curve.good.length > 1, low = Math.min(...curve.good), high = Math.max(...curve.good);
  const shaded = many ? " Shaded: as good." : "", ringed = curve.whole !== null ? " Ringed: up to here every bicluster is supported." : "";
  const said = `${curve.said.join(" ")} ${R.capital(curve.measure)} against the K requested, ${curve.algorithm}; beside each mark, how many biclusters are supported. Filled: best.${shaded}${ringed}`;
  const drawn = R.make("div"), part = R.part("How many?", said, drawn);
  host.append(part);
  R.downloads(part, drawn, "Evidence against K");
  R.picture(drawn, (full) => {
    const width = Math.min(full, 640), height = 252, margin = { top: 24, right: 20, bottom: 34, left: 60 };
    const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    const points = curve.points.filter(([, value]) => value !== null), ks = points.map(([k]) => k);
    const ends = points.flatMap(([, value, , , spread]) => [value - (spread || 0), value + (spread || 0)]);
    const svg = R.svg(width, height, `${curve.measure} against K: ${points.map(([k, value]) => `${k}: ${R.number(value)}`).join(", ")}`);
    const g = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
    const x = d3.scaleLinear(d3.extent(ks), [14, inner.width - 14]), y = d3.scaleLinear([Math.min(0, d3.min(ends)), d3.max(ends)], [inner.height, 0]).nice(4);
    if (many) g.append("rect").attr("x", x(low) - 9).attr("width", x(high) - x(low) + 18).attr("height", inner.height).attr("fill", "var(--accent)").attr("fill-opacity", 0.12);
    R.axisY(g, y, inner.width, 4);
    g.append("g").attr("transform", `translate(0,${inner.height})`).attr("aria-hidden", "true").call(d3.axisBottom(x).tickValues(ks).tickFormat(d3.format("d")).tickSize(4)).call((a) => a.select(".domain").remove());
    g.append("path").datum(points).attr("fill", "none").attr("stroke", "var(--accent)").attr("stroke-width", 1.8).attr("d", d3.line(([k]) => x(k), ([, value]) => y(value)));
    for (const [k, value, supported, found, spread] of points) {
      if (spread) g.append("line").attr("x1", x(k)).attr("x2", x(k)).attr("y1", y(value - spread)).attr("y2", y(value + spread)).attr("stroke", "var(--accent)");
      g.append("circle").attr("class", "point").attr("cx", x(k)).attr("cy", y(value)).attr("r", k === curve.best ? 6.5 : 4).attr("fill", k === curve.best ? "var(--accent)" : "var(--bg)").attr("stroke", "var(--accent)").attr("stroke-width", 1.6)
        .attr("data-tip", `K = ${k}\n${curve.measure} ${R.number(value)}${supported === null ? "" : `\n${R.number(supported)} of ${R.number(found)} supported`}`);
      if (k === curve.whole) g.append("circle").attr("cx", x(k)).attr("cy", y(value)).attr("r", 9.5).attr("fill", "none").attr("stroke", "var(--accent)").attr("stroke-dasharray", "3 2");
      if (supported !== null) g.append("text").attr("class", "label").attr("x", x(k) + 9).attr("y", y(value) - 6).attr("aria-hidden", "true").text(R.number(supported));
    }
    g.append("text").attr("x", inner.width).attr("y", inner.height + 30).attr("text-anchor", "end").text("K requested");
    g.append("text").attr("x", 4 - margin.left).attr("y", -8).text(R.capital(curve.measure));
    drawn.replaceChildren(svg.node());
  });
};

/** The null bands in numbers: central 90 % and mean of the surrogates, the gap to it and its p-value. */
R.nullTable = function () {
  const keys = R.data.main, host = R.make("div");
  const ends = { low: "null from", mean: "null mean", high: "null to", gap: "gap", p_value: "p" };
  const columns = [{ key: "dataset", label: "data set" }, { key: "algorithm", label: "algorithm" }, { key: "k", label: "K", numeric: true }, { key: "runs", label: "surrogates", numeric: true },
    ...keys.flatMap((key) => Object.keys(ends).map((end) => ({ key: `${key}-${end}`, label: `${R.measure[key].symbol} ${ends[end]}`, numeric: true, percent: R.measure[key].percent && end !== "p_value" && end !== "gap" })))];
  const rows = R.data.nulls.map((n) => ({ dataset: n.dataset, algorithm: n.algorithm, k: n.k, runs: n.runs,
    ...Object.fromEntries(keys.flatMap((key) => Object.keys(ends).map((end) => [`${key}-${end}`, { value: n[end][R.measure[key].index], why: "undefined in the data or in every surrogate" }]))) }));
  R.table(host, { caption: "Scores beside those of surrogate matrices", columns, rows });
  return R.make("details", { class: "as-table" }, R.make("summary", {}, "The surrogate runs in numbers"), host);
};

/** A measure of a group beside its null: p-value and words; null without one. */
R.nullOf = function (group, key) {
  R.nullsByName ||= new Map(R.data.nulls.map((n) => [`${n.k} ${n.algorithm} ${n.dataset}`, n]));
  const n = R.nullsByName.get(`${group.k} ${group.algorithm} ${group.dataset}`), i = R.measure[key]?.index;
  if (!n || i === undefined || n.mean[i] === null) return null;
  return { p: n.p_value[i], text: `surrogates ${R.show(key, n.low[i])} to ${R.show(key, n.high[i])}, gap ${R.number(n.gap[i])}, p\u00a0=\u00a0${R.number(n.p_value[i], 2)}` };
};

R.pointTip = function (group, keys) {
  const lines = keys.filter((key) => R.measure[key]).map((key) => {
    const spread = R.value(group, key, "spread");
    const beside = R.nullOf(group, key);
    return `${R.measure[key].symbol} ${R.show(key, R.value(group, key))}${spread === null ? "" : ` ± ${R.show(key, spread)}`}${beside ? `\n${beside.text}` : ""}`;
  });
  const seeds = group.seeds > 1 ? `\nmean ± sd of ${group.counted[R.measure[keys[0]].index]} of ${group.seeds} seeds` : "";
  return `${R.label(group)}\n${lines.join("\n")}${seeds}`;
};

R.tradeoff = function (host, groups, width) {
  const points = groups.filter((g) => R.value(g, "nve") !== null && R.value(g, "coverage") > 0);
  const height = Math.min(430, Math.max(300, width * 0.5)), margin = { top: 14, right: 26, bottom: 42, left: 52 };
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const covers = points.map((p) => R.value(p, "coverage"));
  const wide = d3.max(covers) / d3.min(covers) > 30;
  const x = wide ? d3.scaleLog([d3.min(covers) / 1.4, Math.min(1, d3.max(covers) * 1.5)], [0, inner.width]) : d3.scaleLinear([0, Math.min(1, d3.max(covers) * 1.12)], [0, inner.width]).nice();
  const y = d3.scaleLinear([Math.min(0, d3.min(points, (p) => R.value(p, "nve"))), Math.max(1.05, d3.max(points, (p) => R.value(p, "nve")) * 1.06)], [inner.height, 0]).nice();
  const size = d3.scaleSqrt([0, d3.max(points, (p) => p.k) || 1], [0, 300]);
  const svg = R.svg(width, height, `Coverage against ${R.data.symbols.nve}, one mark per solution; the numbers are in the table of solutions`);
  const g = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
  R.axisY(g, y, inner.width, 5);
  R.axisX(g, x, inner.height, wide ? 4 : 6, wide ? (v) => R.percent(v) : ".0%");
  g.append("text").attr("x", inner.width).attr("y", inner.height + 36).attr("text-anchor", "end").text("share of the matrix covered →");
  g.append("text").attr("x", 6).attr("y", 0).text(`${R.data.symbols.nve}: low is distinct and coherent ↓`);
  g.append("line").attr("x2", inner.width).attr("y1", y(1)).attr("y2", y(1)).attr("stroke", "var(--quiet)").attr("stroke-dasharray", "2 4");
  const roomy = inner.width >= 480;
  if (roomy) g.append("text").attr("x", 6).attr("y", y(1) - 5).text(`${R.data.symbols.nve} = 1: nothing lost by merging`);
  const best = R.winner(points, R.data.criterion);
  if (best && R.data.criterion === "nve_cov") R.equalBalance(g, best, x, y, inner);
  const placed = roomy ? [{ x: 0, y: y(1) - 18, w: 200, h: 16 }] : [];
  for (const p of points.slice().sort((a, b) => d3.descending(a === best, b === best))) {
    const cx = x(R.value(p, "coverage")), cy = y(R.value(p, "nve"));
    g.append("path").attr("class", "point").attr("d", R.symbol(p.algorithm, 36 + size(p.k || 1))).attr("transform", `translate(${cx},${cy})`)
      .attr("fill", R.algorithmColour(p.algorithm)).attr("fill-opacity", 0.8).attr("stroke", p === best ? "var(--ink)" : "var(--bg)").attr("stroke-width", p === best ? 2 : 1)
      .attr("data-tip", R.pointTip(p, ["nve", "coverage", "nve_cov"]));
    const text = p === best ? R.label(p) : R.data.kind === "run" ? (p.k === null ? "" : String(p.k)) : p.algorithm;
    const gap = 7 + Math.sqrt(36 + size(p.k || 1)) / 2, w = 6.6 * text.length + 4, flip = cx + gap + w > inner.width;
    const box = { x: flip ? cx - gap - w : cx + gap, y: cy - 8, w, h: 14 };
    if (p !== best && placed.some((o) => box.x < o.x + o.w && o.x < box.x + box.w && box.y < o.y + o.h && o.y < box.y + box.h)) continue;
    placed.push(box);
    g.append("text").attr("class", p === best ? "strong label" : "label").attr("x", flip ? cx - gap : cx + gap).attr("y", cy + 4).attr("text-anchor", flip ? "end" : null).attr("aria-hidden", "true").text(text);
  }
  host.replaceChildren(svg.node());
};

/** The curve through the winner on which NVE_cov is the same; the exponent of the coverage comes with the data. */
R.equalBalance = function (g, best, x, y, inner) {
  const nve = R.value(best, "nve"), cover = R.value(best, "coverage"), exponent = R.data.exponent;
  if (exponent <= 0 || nve <= 0) return;
  const [from, to] = x.domain();
  const steps = d3.range(0, 101).map((i) => x.invert((inner.width * i) / 100)).filter((v) => v > 0 && v >= from && v <= to);
  const curve = steps.map((v) => [x(v), y(nve * (v / cover) ** exponent)]).filter(([, py]) => py >= 0 && py <= inner.height);
  g.append("path").attr("d", d3.line()(curve)).attr("fill", "none").attr("stroke", "var(--accent)").attr("stroke-width", 1.2).attr("stroke-dasharray", "6 4");
  if (inner.width < 480 || curve.length < 10) return;
  const [lx, ly] = curve[Math.floor(curve.length * 0.55)];
  g.append("text").attr("x", lx + 6).attr("y", ly + 18).style("fill", "var(--accent)").text("as good as the best; better below");
};

/** Which algorithm wins under which measure: counts over data sets, or best values of a single one. */
R.winners = function (host, groups) {
  const { algorithms, datasets } = R.data;
  const keys = R.data.main.filter((key) => R.measure[key].direction !== "none");
  const many = datasets.length > 1;
  const counts = {}, totals = {};
  for (const key of keys) {
    for (const dataset of datasets) {
      const best = R.winner(groups.filter((g) => g.dataset === dataset), key);
      if (!best) continue;
      counts[`${best.algorithm}|${key}`] = (counts[`${best.algorithm}|${key}`] || 0) + 1;
      totals[key] = (totals[key] || 0) + 1;
    }
  }
  const head = R.make("tr", {}, R.make("th", { scope: "col" }, R.data.kind === "run" ? "algorithm" : "solution"),
    ...keys.map((key) => R.make("th", { scope: "col", "data-tip": R.help(R.measure[key]) }, ...R.lowered(R.measure[key].symbol), R.arrow[R.measure[key].direction])));
  const whyNone = (name, key) => {
    const mine = groups.filter((g) => g.algorithm === name), values = mine.map((g) => R.value(g, key)).filter((v) => v !== null);
    if (!values.length) return mine[0].reasons[key] || "undefined";
    return "none is better than no biclusters at all";
  };
  const rows = algorithms.map((name) => R.make("tr", {}, R.make("th", { scope: "row" }, name), ...keys.map((key) => {
    const won = counts[`${name}|${key}`] || 0;
    const shade = `background:color-mix(in srgb, var(--accent) ${Math.round((34 * won) / (totals[key] || 1))}%, transparent)`;
    if (many) return R.make("td", { style: shade, class: won ? "first" : null, "data-tip": `${name} is best under ${R.measure[key].symbol} on ${won} of ${totals[key] || 0} data sets` }, String(won));
    const best = groups.find((g) => g.algorithm === name && g.own.includes(key));
    if (!best) return R.make("td", {}, R.make("span", { class: "undefined", tabindex: 0, "data-tip": `No best: ${whyNone(name, key)}` }, "–"));
    return R.make("td", { style: shade, class: won ? "first" : null, "data-tip": R.pointTip(best, [key]) }, R.show(key, R.value(best, key)),
      R.data.kind === "run" ? R.make("small", {}, R.label(best).slice(name.length).replace(/^, /, "") || `${R.number(R.value(best, "n_biclusters"))} found`) : null);
  })));
  const lines = () => [["algorithm", "measure", many ? "data sets won" : "best value"], ...algorithms.flatMap((name) => keys.map((key) => [name, key, many ? counts[`${name}|${key}`] || 0 : R.value(groups.find((g) => g.algorithm === name && g.own.includes(key)) ?? { mean: [] }, key)]))];
  const save = R.saveButton("CSV", "Download the winners as CSV", () => R.saveTable("winners", lines()));
  host.replaceChildren(R.make("div", { class: "above" }, R.make("span"), save), R.make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Winners by measure" },
    R.make("table", { class: "grid winners" }, R.make("caption", { class: "sr" }, many ? "Data sets won, by algorithm and measure" : "Best value of each, by measure"), R.make("thead", {}, head), R.make("tbody", {}, ...rows))));
};

/** The per-bicluster NVE map: rows are solutions, columns B1, B2, …; fainter and smaller is better. */
R.nveMap = function (host, groups) {
  const rows = groups.filter((g) => g.nve_k.length);
  const columns = d3.max(rows, (g) => g.nve_k.length) || 0;
  const cell = columns > 60 ? 14 : columns > 24 ? 24 : 46, top = 22;
  const left = 16 + 7 * Math.min(22, d3.max(rows, (g) => R.label(g).length) || 0);
  const width = left + columns * cell + 8, height = top + rows.length * cell + 8;
  const shade = d3.scaleSequential([-0.15, 1.2], R.sequential(R.isDark())).clamp(true);
  const side = d3.scaleLinear([0, 1.2], [cell * 0.3, cell - 2]).clamp(true);
  const svg = R.svg(width, height, `${R.data.symbols.nve} of each bicluster by solution; the numbers are in the tables of biclusters`).style("max-width", "none");
  rows.forEach((group, r) => {
    const cy = top + r * cell + cell / 2;
    const name = R.label(group);
    svg.append("text").attr("class", "strong").attr("x", left - 10).attr("y", cy + 4).attr("text-anchor", "end").text(name.length > 22 ? name.slice(0, 21) + "…" : name).append("title").text(name);
    group.nve_k.forEach(([bicluster, value, status, supported], c) => {
      const x = left + c * cell, tip = `${name}, ${bicluster}: ${R.data.symbols.nve_k} ${value === null ? `undefined (${status})` : R.number(value)}${supported ? "" : "\nnot supported, redundant or too small"}`;
      const box = svg.append("g").attr("data-tip", tip).attr("class", "nve-cell");
      box.append("rect").attr("x", x).attr("y", cy - cell / 2).attr("width", cell - 1).attr("height", cell - 1).attr("fill", "var(--tile)").attr("stroke", "var(--rule)");
      if (value === null) { box.append("path").attr("d", `M${x + 3},${cy - cell / 2 + 3}l${cell - 7},${cell - 7}`).attr("stroke", "var(--quiet)"); return; }
      if (!supported) { if (cell >= 40) box.append("text").attr("x", x + cell / 2).attr("y", cy + 4).attr("text-anchor", "middle").text(value.toFixed(2)); return; }
      const s = side(value);
      box.append("rect").attr("x", x + (cell - 1 - s) / 2).attr("y", cy - 0.5 - s / 2).attr("width", s).attr("height", s).attr("fill", shade(value));
      if (cell >= 40) box.append("text").attr("x", x + cell / 2).attr("y", cy + 4).attr("text-anchor", "middle").style("fill", s > 30 ? R.onto(shade(value)) : "var(--ink)").text(value.toFixed(2));
    });
  });
  const names = d3.greatest(rows, (g) => g.nve_k.length)?.nve_k.map(([b]) => b) || [];
  const every = cell < 20 ? 10 : cell < 40 ? 2 : 1;
  names.forEach((name, c) => { if (c % every === 0) svg.append("text").attr("x", left + c * cell + cell / 2).attr("y", top - 7).attr("text-anchor", "middle").text(name); });
  host.replaceChildren(svg.node());
};
