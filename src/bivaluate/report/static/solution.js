"use strict";
/* One solution: heatmap, and, folded by question, profiles, mergers, sizes and the table of its biclusters. */
R.records = (detail) => detail.records.rows.map((row) => Object.fromEntries(detail.records.columns.map((c, i) => [c, row[i]])));

R.mapPart = function (host, detail) {
  const [rows, columns] = detail.nouns;
  const { view, note } = detail.heatmap, any = detail.names.length > 0;
  const said = [
    any ? `${R.capital(rows)} and ${columns} are reordered so that biclusters stand as outlined blocks; what lies in none comes last.` : `${R.capital(rows)} and ${columns} in their own order; there is no bicluster to outline.`,
    detail.supported.every(Boolean) ? "" : "Dashed outlines are not supported.",
    view === "standard" ? `Each row is shown relative to its own mean (rows standardised), because ${rows} differ in level more than in anything else; the button shows the values as measured.` : "",
    R.tooMany(detail.heatmap) ? `Outlined are the largest pieces of ${R.OUTLINED} supported biclusters at most: choose one to see it whole.` : "",
    note,
  ];
  const heat = R.part(any ? "The matrix, reordered" : "The matrix", said.filter(Boolean).join(" "));
  heat.querySelector(".caption").append(R.make("span", { class: "by-hand" }, ` Point at a tile for its labels; zoom with the buttons, with Ctrl and the wheel${any ? ", or by choosing a bicluster" : ""}.`));
  host.append(heat);
  R.downloads(heat, R.heatmap(heat, detail), `Heatmap of ${detail.name}`);
};

/** Fill a detail: its picture unless that stands on top, gene sets, and each question when it is opened. */
R.solution = function (box, detail) {
  const records = R.records(detail), map = box.querySelector(".solution-map");
  if (map) R.mapPart(map, detail);
  if (detail.enrichment) box.querySelector(".solution-sets").append(R.enrichmentPart(detail));
  const parts = {
    coherent: (host) => host.append(R.biclusterTable(detail, records), R.profilesPart(detail, records)),
    distinct: (host) => host.append(R.mergersPart(detail, records)),
    covers: (host) => host.append(R.sizesPart(detail, records)),
  };
  box.querySelectorAll("details.measures").forEach((fold) => fold.addEventListener("toggle", () => {
    const host = fold.querySelector(".solution-body");
    if (fold.open && !host.children.length) parts[fold.dataset.fold](host);
    R.redraw();
  }));
};

R.part = (title, caption, ...content) => R.make("div", { class: "part" }, R.make("div", { class: "above" }, R.make("h3", {}, title)), caption ? R.make("p", { class: "caption" }, caption) : null, ...content);

/** Give a part buttons that save what is drawn in `host`. */
R.downloads = function (part, host, name) {
  part.querySelector(".above").append(R.pictureButtons(() => host, name));
  return part;
};

R.mergersPart = function (detail, records) {
  const { errors, pairs } = detail.mergers, n = errors.length, { ve } = R.data.symbols;
  const advice = detail.mergers.advice.length ? R.make("ul", { class: "advice" }, ...detail.mergers.advice.map((text) => R.make("li", {}, text))) : R.make("p", { class: "caption" }, "No two biclusters are redundant.");
  if (!n) {
    const alone = records.length === 1;
    return R.part("Who is redundant with whom", alone ? "There is a single bicluster, so there is nothing to merge it with." : "Too many biclusters to draw; the table below names the nearest of each.", alone ? null : advice);
  }
  const host = R.make("div", { class: "wide" });
  const part = R.part("Who is redundant with whom", `${ve} after merging two biclusters; their own ${ve} on the diagonal. Fainter is more coherent. ${n > 40 ? "Orange" : "A ring"} marks redundant pairs: biclusters that share most of their values, or that one bicluster explains as well as two.`, host);
  const top = d3.max(errors.flat()) || 1, ringed = new Set(pairs.flatMap(([a, b]) => [`${a},${b}`, `${b},${a}`]));
  const tipOf = (r, c) => {
    const value = errors[r][c], names = r === c ? detail.names[r] : `${detail.names[r]} + ${detail.names[c]}`;
    const cost = r === c || value === null ? "" : `\napart ${R.number(errors[r][r])} and ${R.number(errors[c][c])}`;
    return `${names}\n${ve} ${value === null ? "undefined" : R.number(value)}${cost}`;
  };
  const left = 34, label = `Virtual error after merging each pair of ${n} biclusters`;
  R.picture(host, (width) => {
    const cell = Math.max(n > 40 ? 2.5 : 13, Math.min(52, (Math.min(width, 560) - left - 6) / n)), side = left + n * cell + 4;
    const svg = R.svg(side, side, label).style("max-width", "none");
    const shade = d3.scaleSequential([0, top], R.sequential(R.isDark()));
    const g = svg.append("g").attr("transform", `translate(${left},20)`);
    const every = Math.max(1, Math.ceil((n > 99 ? 38 : 26) / cell));
    detail.names.forEach((name, k) => {
      if (k % every) return;
      g.append("text").attr("x", (k + 0.5) * cell).attr("y", -6).attr("text-anchor", "middle").text(name);
      g.append("text").attr("x", -6).attr("y", (k + 0.5) * cell + 4).attr("text-anchor", "end").text(name);
    });
    if (n > 40) R.manyMergers(g, errors, ringed, shade, cell, tipOf);
    else errors.forEach((line, r) => line.forEach((value, c) => {
      const rect = g.append("rect").attr("x", c * cell).attr("y", r * cell).attr("width", cell - 1).attr("height", cell - 1)
        .attr("fill", value === null ? "var(--soft)" : shade(value)).attr("data-tip", tipOf(r, c));
      if (r === c) rect.attr("stroke", "var(--quiet)").attr("stroke-width", 1);
      if (value !== null && cell >= 34) g.append("text").attr("x", (c + 0.5) * cell).attr("y", (r + 0.5) * cell + 4).attr("text-anchor", "middle").attr("pointer-events", "none").style("fill", R.onto(shade(value))).text(value.toFixed(2));
      if (ringed.has(`${r},${c}`)) g.append("rect").attr("x", c * cell + 1.5).attr("y", r * cell + 1.5).attr("width", cell - 4).attr("height", cell - 4).attr("rx", (cell - 4) / 2).attr("fill", "none").attr("stroke", "var(--virtual)").attr("stroke-width", cell > 20 ? 2.2 : 1.4).attr("pointer-events", "none");
    }));
    host.replaceChildren(svg.node());
  });
  R.downloads(part, host, `Mergers of ${detail.name}`);
  part.append(advice);
  if (n <= 40) part.append(R.mergerTable(detail, errors));
  return part;
};

/** The same numbers as a table, built when it is opened. */
R.mergerTable = function (detail, errors) {
  const host = R.make("div"), box = R.make("details", { class: "as-table" }, R.make("summary", {}, "As a table"), host);
  box.addEventListener("toggle", () => {
    if (host.children.length) return;
    const columns = [{ key: "with", label: `${R.data.symbols.ve} merged with` }, ...detail.names.map((name) => ({ key: name, label: name, numeric: true }))];
    const rows = errors.map((line, r) => Object.fromEntries([["with", detail.names[r]], ...line.map((value, c) => [detail.names[c], { value, why: "one of the two has no defined error" }])]));
    R.table(host, { caption: `${R.data.symbols.ve} of the mergers of ${detail.name}`, columns, rows, pageSize: 40 });
  });
  return box;
};

/** A large merger matrix as one image, for tens of thousands of shapes would be slow; rings become coloured cells. */
R.manyMergers = function (g, errors, ringed, shade, cell, tipOf) {
  const n = errors.length, canvas = R.make("canvas", { width: n, height: n }), context = canvas.getContext("2d");
  const blank = R.token("--soft"), mark = R.token("--virtual");
  errors.forEach((line, r) => line.forEach((value, c) => {
    context.fillStyle = ringed.has(`${r},${c}`) ? mark : value === null ? blank : shade(value);
    context.fillRect(c, r, 1, 1);
  }));
  g.append("image").attr("href", canvas.toDataURL()).attr("width", n * cell).attr("height", n * cell).style("image-rendering", "pixelated").attr("data-tips", "")
    .on("pointermove", (event) => {
      const [x, y] = d3.pointer(event, g.node()), c = Math.floor(x / cell), r = Math.floor(y / cell);
      if (errors[r] && c >= 0 && c < n) R.tip.show(tipOf(r, c), event.clientX, event.clientY);
    }).on("pointerleave", () => R.tip.hide());
};

R.sizesPart = function (detail, records) {
  const host = R.make("div");
  const shares = ["coverage", "row_coverage", "col_coverage", "overlap"].filter((key) => typeof detail.scores[key] === "number");
  const said = { coverage: "cells covered", row_coverage: "rows covered", col_coverage: "columns covered", overlap: "covered twice" };
  const bars = R.make("div", { class: "shares" }, ...shares.map((key) => R.make("div", { "data-tip": R.measure[key]?.summary || null }, said[key],
    R.make("span", { class: "track" }, R.make("span", { class: "fill", style: `width:${(100 * detail.scores[key]).toFixed(2)}%` })), R.make("b", {}, R.percent(detail.scores[key])))));
  R.picture(host, (width) => {
    const height = 250, margin = { top: 10, right: 22, bottom: 34, left: 44 }, inner = { width: Math.min(width, 460) - margin.left - margin.right, height: height - margin.top - margin.bottom };
    const x = d3.scaleLog([0.85, Math.max(10, detail.shape[1])], [0, inner.width]), y = d3.scaleLog([0.85, Math.max(10, detail.shape[0])], [inner.height, 0]);
    const svg = R.svg(Math.min(width, 460), height, "Rows against columns of each bicluster; the numbers are in the table of biclusters");
    const g = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
    const decades = (scale) => [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20000].filter((v) => v <= scale.domain()[1]).filter((v, i, all) => all.length < 7 || String(v)[0] === "1");
    g.append("g").attr("aria-hidden", "true").call(d3.axisLeft(y).tickValues(decades(y)).tickFormat(d3.format(",")).tickSize(-inner.width).tickPadding(6)).call((a) => a.select(".domain").remove());
    g.append("g").attr("aria-hidden", "true").attr("transform", `translate(0,${inner.height})`).call(d3.axisBottom(x).tickValues(decades(x)).tickFormat(d3.format(",")).tickSize(4)).call((a) => a.select(".domain").remove());
    g.append("text").attr("x", inner.width).attr("y", inner.height + 30).attr("text-anchor", "end").text(detail.nouns[1]);
    g.append("text").attr("x", 4).attr("y", 10).text(detail.nouns[0]);
    const placed = [];
    records.forEach((record) => {
      const cx = x(record.n_cols), cy = y(record.n_rows), thin = record.status === "undefined";
      g.append("circle").attr("class", "point").attr("cx", cx).attr("cy", cy).attr("r", 5.5).attr("fill", thin ? "none" : "var(--accent)").attr("fill-opacity", 0.75).attr("stroke", thin ? "var(--warn)" : "var(--bg)").attr("stroke-width", thin ? 2 : 1)
        .attr("data-tip", `${record.bicluster}: ${record.n_rows} × ${record.n_cols}${thin ? "\ntoo thin for a defined score" : ""}`);
      if (records.length > 40) return;
      const near = placed.find((o) => Math.abs(o.cx - cx) < 26 && Math.abs(o.cy - cy) < 13);
      if (near) near.names.push(record.bicluster);
      else placed.push({ cx, cy, names: [record.bicluster] });
    });
    for (const { cx, cy, names } of placed) {
      const text = names.length > 3 ? `${names[0]} + ${names.length - 1} more` : names.join(", "), flip = cx + 8 + 6.4 * text.length > inner.width + margin.right;
      g.append("text").attr("x", flip ? cx - 8 : cx + 8).attr("y", cy + 4).attr("text-anchor", flip ? "end" : null).attr("aria-hidden", "true").text(text);
    }
    host.replaceChildren(svg.node());
  });
  return R.downloads(R.part("Sizes and coverage", `${R.capital(detail.nouns[0])} and ${detail.nouns[1]} of each bicluster, both axes logarithmic; a hollow mark has a single row or column and no defined score.`, host, bars), host, `Sizes of ${detail.name}`);
};

R.profilesPart = function (detail, records) {
  const grid = R.make("div", { class: "profiles" });
  const part = R.part("Profiles", `${R.capital(detail.nouns[0])} of each bicluster standardised over its ${detail.nouns[1]} (thin) against the virtual pattern (bold). ${R.data.symbols.ve} is the mean distance between the two: tight bundles are coherent. Standardising removes the level, which is part of what was judged.`, grid);
  const first = 12;
  const draw = (profile) => grid.append(R.profile(profile, records.find((r) => r.bicluster === profile.name) || {}));
  detail.profiles.slice(0, first).forEach(draw);
  if (detail.profiles.length > first) {
    const more = R.make("button", { type: "button", class: "more" }, `Show all ${detail.profiles.length} profiles`);
    more.addEventListener("click", () => { more.remove(); detail.profiles.slice(first).forEach(draw); });
    part.append(more);
  }
  return R.downloads(part, grid, `Profiles of ${detail.name}`);
};

/** Which gene sets the biclusters are enriched in, best first. */
R.enrichmentPart = function (detail) {
  const found = detail.enrichment, host = R.make("div");
  const words = { title: "set", overlap: "shared", genes: "genes of the bicluster", set_size: "genes of the set", background: "genes in all" };
  const numeric = (key) => !["bicluster", "title"].includes(key);
  const columns = found.columns.map((key) => ({ key, label: words[key] || key, numeric: numeric(key), direction: key === "p" || key === "q" ? "low" : "none" }));
  const rows = found.rows.map((row) => Object.fromEntries(found.columns.map((key, i) => [key, row[i]])));
  const more = found.left_out ? ` ${R.number(found.left_out)} more are in the table beside the page.` : "";
  if (rows.length) R.table(host, { caption: `Enriched sets of ${detail.name}`, columns, rows, pageSize: 15 });
  return R.part("What the genes share", `${found.summary} ${found.background}${more}`, host);
};

R.profile = function (profile, record) {
  const host = R.make("div", { "data-tips": true });
  const scores = ["ve", "nve_k"].filter((key) => typeof record[key] === "number").flatMap((key) => [" · ", ...R.lowered(R.data.symbols[key]), ` ${R.number(record[key])}`]);
  const box = R.make("div", {}, R.make("h4", {}, profile.name), R.make("p", {}, `${profile.rows} × ${profile.cols}`, ...scores), host,
    profile.lines.length < profile.rows ? R.make("p", {}, `${profile.lines.length} of ${profile.rows} rows drawn`) : null,
    profile.pattern.length < profile.cols ? R.make("p", {}, `${profile.pattern.length} of ${profile.cols} columns drawn`) : null);
  R.picture(host, (width) => {
    const height = 116, n = profile.pattern.length;
    const x = d3.scaleLinear([0, Math.max(1, n - 1)], [4, width - 4]), y = d3.scaleLinear([-3, 3], [height - 4, 4]).clamp(true);
    const line = d3.line((_, i) => x(n === 1 ? 0.5 : i), (v) => y(v)).defined((v) => v !== null);
    const svg = R.svg(width, height, `Profile of ${profile.name}: ${R.plural(profile.rows, "standardised row")} over ${R.plural(profile.cols, "column")}`);
    svg.append("line").attr("class", "grid-line").attr("x2", width).attr("y1", y(0)).attr("y2", y(0));
    svg.append("path").attr("d", profile.lines.map(line).join("")).attr("fill", "none").attr("stroke", "var(--thread)").attr("stroke-opacity", profile.lines.length > 20 ? 0.3 : 0.5).attr("stroke-width", 0.9);
    svg.append("path").attr("d", line(profile.pattern)).attr("fill", "none").attr("stroke", "var(--virtual)").attr("stroke-width", 2.6).attr("stroke-linejoin", "round");
    const guide = svg.append("line").attr("y1", 2).attr("y2", height - 2).attr("stroke", "var(--quiet)").attr("visibility", "hidden");
    svg.on("pointermove", (event) => {
      const i = Math.max(0, Math.min(n - 1, Math.round(x.invert(d3.pointer(event)[0]))));
      guide.attr("visibility", null).attr("x1", x(i)).attr("x2", x(i));
      R.tip.show(`column ${profile.col_names[i]}\npattern ${R.number(profile.pattern[i])}`, event.clientX, event.clientY);
    }).on("pointerleave", () => { guide.attr("visibility", "hidden"); R.tip.hide(); });
    host.replaceChildren(svg.node());
  });
  return box;
};

R.biclusterTable = function (detail, records) {
  const known = Object.fromEntries(R.data.bicluster_measures.map((m) => [m.key, m]));
  const words = { n_rows: detail.nouns[0], n_cols: detail.nouns[1], size: "values", enriched_sets: "sets enriched", best_set: "best set", partner: "nearest", ve_merged: `${R.data.symbols.ve} merged`, status: "status", bicluster: "bicluster" };
  const why = { undefined: "one row or one column: coherence is not defined", low_power: `two columns: ${R.data.symbols.ve} cannot judge them`, small: "smaller than the minimum size" };
  const above = new Set(["size", "evidence", "evidence_alone", "pattern", "verdict", "supported", "redundant_with", "shared", "reason", "mean_inside", "mean_elsewhere", "best_set"]);
  const columns = detail.records.columns.filter((key) => !above.has(key)).map((key) => {
    const m = known[key];
    const numeric = records.some((r) => typeof r[key] === "number") || Boolean(m);
    return { key, numeric, label: m ? m.symbol : words[key] || key.replaceAll("_", " "), direction: m?.direction, help: m ? R.help(m) : null, bar: Boolean(m) && m.direction !== "none" };
  });
  const entry = (r, c, i) => (c.numeric ? { value: r[c.key], best: detail.records.best[c.key] === i, why: why[r.status] || "no partner to compare with" } : c.key === "status" || c.key === "verdict" ? String(r[c.key] ?? "–").replaceAll("_", " ") : r[c.key]);
  const rows = records.map((r, i) => Object.fromEntries(columns.map((c) => [c.key, entry(r, c, i)])));
  const host = R.make("div");
  R.table(host, { caption: `Biclusters of ${detail.name}`, columns, rows, pageSize: 30 });
  return R.part("Measures of each bicluster", "A dot marks the best of the supported ones.", host);
};
