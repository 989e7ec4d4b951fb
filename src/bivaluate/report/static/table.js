"use strict";
/* Shared state and words, and one sortable, filterable table used everywhere on the page. */
window.R = {
  data: JSON.parse(document.getElementById("report-data").textContent),
  /** Create an element: R.make("td", {class: "num"}, "text", child, …). */
  make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null || value === undefined) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  },
  /** A control with its label above it. */
  field(label, control) {
    control.id = `field-${R.fields = (R.fields || 0) + 1}`;
    return R.make("div", { class: "field" }, R.make("label", { for: control.id }, label), control);
  },
  number(value, digits = 3) {
    if (value === null || value === undefined) return "–";
    if (value < 0) return `−${R.number(-value, digits)}`;
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return value >= 10 ** Math.min(digits, 3) ? value.toFixed(0) : value.toPrecision(digits);
  },
  percent(value) {
    if (value === null || value === undefined) return "–";
    const share = 100 * value;
    if (share >= 9.95 || share === 0) return share.toFixed(0) + "\u00a0%";
    return (share >= 0.1 ? share.toFixed(1) : String(Number(share.toPrecision(1)))) + "\u00a0%";
  },
  /** A symbol such as NVE_cov with its index set low. */
  lowered(text) {
    const [, base, index] = /^([A-Z]+)_([a-z]+)$/.exec(text) || [];
    return base ? [base, R.make("sub", {}, index)] : [text];
  },
  arrow: { low: "\u00a0↓", high: "\u00a0↑", none: "" },
  better: { low: "low is better", high: "high is better", none: "neither way is better" },
};
R.measure = Object.fromEntries(R.data.measures.map((m, i) => [m.key, { ...m, index: i }]));
R.capital = (text) => text[0].toUpperCase() + text.slice(1);
R.plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
R.show = (key, value) => (R.measure[key]?.percent ? R.percent(value) : R.number(value));
R.help = (m) => `${m.name}: ${m.summary}${m.direction === "none" ? "" : ` ${R.better[m.direction][0].toUpperCase()}${R.better[m.direction].slice(1)}.`}`;

/**
 * Draw a table into `host`.
 * columns: {key, label, direction, help, numeric, percent, bar}
 * rows: {key: value | {value, spread, beside: p-value of the null, best: marked, why, tip, link}, among: rows of the same `among` share a scale}
 */
R.table = function (host, { caption, columns, rows, pageSize = 20, sort = null }) {
  let order = sort;
  let filter = () => true;
  let showAll = false;
  const of = (row, key) => (row[key] !== null && typeof row[key] === "object" ? row[key].value : row[key]);
  const extents = new Map(), extentOf = (row, column) => extents.get(`${column.key} ${row.among || ""}`);
  for (const column of columns.filter((c) => c.bar)) {
    for (const row of rows) {
      const value = of(row, column.key), name = `${column.key} ${row.among || ""}`;
      if (typeof value !== "number") continue;
      const known = extents.get(name) || { low: value, high: value };
      extents.set(name, { low: Math.min(known.low, value), high: Math.max(known.high, value) });
    }
  }
  const status = R.make("p", { class: "status", role: "status" });
  const head = R.make("tr");
  const body = R.make("tbody");
  const table = R.make("table", { class: "grid" }, R.make("caption", { class: "sr" }, caption), R.make("thead", {}, head), body);
  const more = R.make("button", { class: "more", type: "button", onclick: () => { showAll = true; draw(); } });
  /** What the table holds, rows that are not on screen included, numbers in full. */
  const lines = () => [columns.map((c) => c.key), ...rows.filter(filter).map((row) => columns.map((c) => of(row, c.key)))];
  const save = R.make("button", { type: "button", class: "save", "aria-label": `Download ${caption} as CSV`, onclick: () => R.saveTable(caption, lines()) }, "CSV");
  host.replaceChildren(R.make("div", { class: "above" }, status, save), R.make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table), more);

  for (const column of columns) {
    const button = R.make("button", { type: "button", "data-tip": column.help || null },
      ...R.lowered(column.label), R.arrow[column.direction] || "", R.make("span", { class: "order", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      const first = column.numeric && column.direction !== "low" ? -1 : 1;
      order = order && order.key === column.key ? { key: column.key, sign: -order.sign } : { key: column.key, sign: first };
      draw();
    });
    head.append(R.make("th", { scope: "col", class: column.numeric ? "num" : null, "data-key": column.key }, button));
  }

  function compare(a, b) {
    const x = of(a, order.key), y = of(b, order.key);
    const missing = (v) => v === null || v === undefined || v === "";
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    const difference = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return order.sign * difference;
  }

  function cell(row, column, first) {
    const entry = row[column.key] !== null && typeof row[column.key] === "object" ? row[column.key] : { value: row[column.key] };
    const td = R.make(first ? "th" : "td", { scope: first ? "row" : null, class: column.numeric ? "num" : null, "data-key": column.key });
    if (entry.value === null || entry.value === undefined) {
      if (column.numeric || entry.why) {
        const why = entry.why || "not defined for this one";
        td.append(R.make("span", { class: "undefined", tabindex: 0, "data-tip": `Undefined: ${why}` }, "–", R.make("span", { class: "sr" }, ` undefined: ${why}`)));
      }
      return td;
    }
    const text = column.percent ? R.percent(entry.value) : column.numeric ? R.number(entry.value) : String(entry.value);
    if (column.numeric) td.dataset.value = entry.value;
    td.append(entry.link ? R.make("a", { href: `#${entry.link}` }, text) : R.make("span", { class: "value", "data-tip": entry.tip || null }, text));
    if (entry.spread) td.append(R.make("span", { class: "spread" }, ` ±\u2009${column.percent ? R.percent(entry.spread) : R.number(entry.spread, 2)}`));
    if (entry.beside !== undefined) td.append(R.make("span", { class: "spread beside" }, `p\u2009=\u2009${R.number(entry.beside, 2)}`));
    const range = column.bar ? extentOf(row, column) : null;
    if (range && range.high > range.low && range.low >= 0) {
      td.append(R.make("span", { class: "bar", style: `width:${Math.max(1, (100 * entry.value) / range.high).toFixed(1)}%` }));
    }
    if (entry.best) td.classList.add("best");
    return td;
  }

  function draw() {
    const shown = rows.filter(filter);
    if (order) shown.sort(compare);
    const part = showAll ? shown : shown.slice(0, pageSize);
    body.replaceChildren(...part.map((row) => R.make("tr", {}, ...columns.map((column, i) => cell(row, column, i === 0)))));
    for (const th of head.children) {
      const mine = order && order.key === th.dataset.key;
      if (mine) th.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
      th.querySelector(".order").textContent = mine ? (order.sign > 0 ? "\u2009▲" : "\u2009▼") : "";
    }
    const all = R.plural(rows.length, "row");
    status.textContent = shown.length === rows.length ? all : `${shown.length.toLocaleString("en")} of ${all}`;
    more.hidden = part.length === shown.length;
    more.textContent = `Show all ${shown.length.toLocaleString("en")} rows`;
  }
  draw();
  return { filter(test) { filter = test; draw(); } };
};
