"use strict";
/* The reordered matrix on a canvas: outlines, zoom, labels under the pointer or the keyboard cursor. */
R.halves = function (text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer), values = new Float32Array(bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const bits = view.getUint16(2 * i, true), exponent = (bits >> 10) & 31, part = bits & 1023, sign = bits >> 15 ? -1 : 1;
    values[i] = exponent === 31 ? NaN : sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
  }
  return values;
};

/** Standardised values, one byte each: thirty-seconds, and -128 for undefined. */
R.standardised = (text) => Float32Array.from(Int8Array.from(atob(text), (c) => c.charCodeAt(0)), (b) => (b === -128 ? NaN : b / 32));

/** Whether outlines of all biclusters would hide the matrix: then the largest pieces of the first supported ones are drawn. */
R.tooMany = (map) => d3.sum(map.blocks, (b) => b.rows.length * b.cols.length) > 1500;
R.OUTLINED = 12;

/** The colour of a bicluster: the one it is named after, as modules of WGCNA are, light or dark enough to be seen. */
R.colourOf = (name, k) => {
  if (!/^[a-z]+$/i.test(name) || !d3.color(name)) return R.token(`--s${k % R.SERIES}`);
  const { l, a, b } = d3.lab(name);
  return d3.lab(R.isDark() ? Math.max(l, 50) : Math.min(l, 62), a, b).formatHex();
};

R.heatmap = function (host, detail) {
  const map = detail.heatmap, values = R.halves(map.data).map((v) => v * map.scale), standard = R.standardised(map.standard), { rows, cols } = map;
  const ranges = { raw: { middle: map.middle, reach: map.reach, values: map.unit ? values.map((v) => Math.log2(1 + v / map.unit)) : values, fromZero: map.from_zero, unit: map.unit }, standard: { middle: 0, ofLogs: map.unit > 0, reach: map.standard_reach, values: standard } };
  const single = (noun, whole) => (whole ? noun.replace(/s$/, "") : noun), noun = single(detail.nouns[0], detail.shape[0] === rows), columnNoun = single(detail.nouns[1], detail.shape[1] === cols);
  const crowded = R.tooMany(map), first = d3.range(map.blocks.length).filter((k) => detail.supported[k]).slice(0, R.OUTLINED);
  const largest = (runs) => d3.sort(runs, ([a, b]) => a - b).slice(0, 4);
  const state = { zoom: d3.zoomIdentity, cursor: null, chosen: -1, view: map.view };
  const canvas = R.make("canvas", { tabindex: 0, role: "application", "data-tips": true,
    "aria-label": `Heatmap of ${detail.shape[0]} ${detail.nouns[0]} by ${detail.shape[1]} ${detail.nouns[1]}, reordered so that biclusters stand as blocks. Arrow keys move a cursor, plus and minus zoom, 0 resets.` });
  const live = R.make("p", { class: "sr", "aria-live": "polite" });
  const context = canvas.getContext("2d");
  let picture = null, size = { width: 0, height: 0 }, lastDark = null;

  function paint() {
    const colour = R.heatColours(ranges[state.view]), lookup = d3.range(256).map((i) => d3.rgb(colour(i / 255)));
    const blank = d3.rgb(R.token("--soft"));
    picture = new OffscreenCanvas(cols, rows);
    const image = new ImageData(cols, rows);
    const shown = ranges[state.view];
    for (let i = 0; i < values.length; i++) {
      const t = (shown.values[i] - shown.middle) / (2 * shown.reach) + 0.5;
      const c = Number.isNaN(t) ? blank : lookup[Math.max(0, Math.min(255, Math.round(t * 255)))];
      image.data.set([c.r, c.g, c.b, 255], 4 * i);
    }
    picture.getContext("2d").putImageData(image, 0, 0);
    lastDark = R.isDark();
  }

  const toX = (col) => state.zoom.applyX((col / cols) * size.width);
  const toY = (row) => state.zoom.applyY((row / rows) * size.height);

  const common = (a, b) => Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));

  /** Where the label of a block stands: beside it, on no other label and on other blocks as little as can be; null where there is no room. */
  function labelPlace({ x, y, w: width, h: height, k }, w, pieces, taken) {
    const right = Math.min(x + width, size.width), bottom = Math.min(y + height, size.height), h = 17;
    const left = Math.max(x, 0), top = Math.max(y, 0);
    if (right <= left || bottom <= top) return null;
    const beside = [[right + 2, top], [left - w - 2, top], [left, top - h - 1], [left, bottom + 1], [left, top]];
    let best = null;
    beside.forEach(([px, py], i) => [0, -1, 1, -2, 2, -3, 3].forEach((step) => {
      const box = { x: Math.max(1, Math.min(px, size.width - w - 1)), y: Math.max(1, Math.min(py + step * (h + 1), size.height - h - 1)), w, h };
      const covered = d3.sum(pieces, (piece) => (piece.k === k ? 0.4 : 1) * common(box, piece)) / (w * h);
      const away = Math.max(0, left - box.x - w, box.x - right, top - box.y - h, box.y - bottom);
      const cost = 4 * covered + away / 12 + 0.1 * i + 0.05 * Math.abs(step);
      if (!taken.some((o) => common(box, o)) && (!best || cost < best.cost)) best = { ...box, cost, away };
    }));
    return best && { ...best, end: [Math.max(left, Math.min(best.x + w / 2, right)), Math.max(top, Math.min(best.y + h / 2, bottom))] };
  }

  function outline(k, colour, pieces) {
    const part = crowded && state.chosen !== k ? largest : (runs) => runs, block = map.blocks[k];
    context.strokeStyle = colour;
    context.setLineDash(detail.supported[k] ? [] : [7, 5]);
    let place = null;
    for (const [top, bottom] of part(block.rows)) {
      for (const [left, right] of part(block.cols)) {
        const x = toX(left), y = toY(top), w = Math.max(2, toX(right) - x), h = Math.max(2, toY(bottom) - y);
        context.strokeRect(x, y, w, h);
        pieces.push({ x, y, w, h, k });
        if (!place || w * h > place.w * place.h) place = { x, y, w, h };
      }
    }
    return place;
  }

  /** Average only along a side whose cells are smaller than a pixel; keep edges sharp along the other. */
  function drawCells() {
    const width = toX(cols) - toX(0), height = toY(rows) - toY(0), dense = height < rows;
    let image = picture;
    if (dense && width > cols) {
      image = new OffscreenCanvas(Math.ceil(width), rows);
      const stretched = image.getContext("2d");
      stretched.imageSmoothingEnabled = false;
      stretched.drawImage(picture, 0, 0, image.width, rows);
    }
    context.imageSmoothingEnabled = dense || width < cols;
    context.drawImage(image, toX(0), toY(0), width, height);
  }

  function draw() {
    if (lastDark !== R.isDark()) paint();
    const ratio = devicePixelRatio || 1;
    size = { width: canvas.clientWidth, height: canvas.clientHeight };
    if (!size.width) return;
    canvas.width = size.width * ratio;
    canvas.height = size.height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawCells();
    const labels = [], pieces = [], palette = detail.names.map(R.colourOf);
    chips.querySelectorAll("button").forEach((chip, k) => chip.style.setProperty("--chip", palette[k]));
    map.blocks.forEach((_, k) => {
      if (crowded && state.chosen !== k && (state.chosen >= 0 || !first.includes(k))) return;
      const faded = state.chosen >= 0 && state.chosen !== k;
      context.globalAlpha = faded ? 0.18 : 1;
      context.lineWidth = state.chosen === k ? 3.5 : map.blocks.length > 40 ? 1.2 : 2.2;
      const place = outline(k, palette[k], pieces);
      if (place && !faded && (map.blocks.length <= 40 || state.chosen === k)) labels.push({ ...place, k });
    });
    context.globalAlpha = 1;
    context.setLineDash([]);
    context.font = `600 ${size.width < 500 ? 10.5 : 12}px system-ui, sans-serif`;
    const taken = [];
    for (const label of labels) {
      const text = detail.names[label.k], w = context.measureText(text).width + 9, colour = palette[label.k];
      const place = labelPlace(label, w, pieces, taken);
      if (!place) continue;
      taken.push({ ...place, text, colour });
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      if (place.away > 4) context.stroke(new Path2D(`M${place.x + w / 2},${place.y + 8.5}L${place.end}`));
    }
    for (const { x, y, w, text, colour } of taken) {
      context.fillStyle = colour;
      context.fillRect(x, y, w, 17);
      context.fillStyle = R.onto(colour);
      context.fillText(text, x + 4.5, y + 13);
    }
    canvas.dataset.labels = JSON.stringify(taken);
    if (state.cursor) {
      context.strokeStyle = R.token("--ink");
      context.lineWidth = 2;
      const [row, col] = state.cursor;
      context.strokeRect(toX(col) - 1, toY(row) - 1, Math.max(5, toX(col + 1) - toX(col)) + 2, Math.max(5, toY(row + 1) - toY(row)) + 2);
    }
  }

  function describe(row, col) {
    const value = values[row * cols + col], beside = standard[row * cols + col];
    const also = state.view === "standard" && !Number.isNaN(beside) ? `\nstandardised ${R.number(beside, 2)}` : "";
    const inside = (runs, i) => runs.some(([from, to]) => i >= from && i < to);
    const owners = map.blocks.flatMap((b, k) => (inside(b.rows, row) && inside(b.cols, col) ? [detail.names[k]] : []));
    return `${noun} ${map.row_names[row]}\n${columnNoun} ${map.col_names[col]}\n${map.note ? "mean" : "value"} ${Number.isNaN(value) ? "missing" : R.number(value)}${also}${owners.length ? `\nin ${owners.slice(0, 8).join(", ")}${owners.length > 8 ? " …" : ""}` : "\nin no bicluster"}`;
  }

  const zoom = d3.zoom().scaleExtent([1, 60])
    .filter((event) => (event.type === "wheel" ? event.ctrlKey || event.metaKey : event.type === "touchstart" ? event.touches.length > 1 || state.zoom.k > 1 : !event.button))
    .on("start zoom", (event) => {
      const { width, height } = size;
      zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
      state.zoom = event.transform;
      draw();
    });
  const selection = d3.select(canvas).call(zoom);
  const smooth = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? selection : selection.transition().duration(250));

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = state.zoom.invert([event.clientX - box.left, event.clientY - box.top]);
    const col = Math.floor((x / size.width) * cols), row = Math.floor((y / size.height) * rows);
    if (row < 0 || row >= rows || col < 0 || col >= cols) return R.tip.hide();
    R.tip.show(describe(row, col), event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => R.tip.hide());
  canvas.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1, moves = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] };
    if (moves[event.key]) {
      const [row, col] = state.cursor || [0, 0], first = !state.cursor;
      const [dr, dc] = first ? [0, 0] : moves[event.key];
      state.cursor = [Math.max(0, Math.min(rows - 1, row + dr)), Math.max(0, Math.min(cols - 1, col + dc))];
      live.textContent = describe(...state.cursor).replaceAll("\n", ", ");
      draw();
      const box = canvas.getBoundingClientRect();
      R.tip.show(describe(...state.cursor), box.left + toX(state.cursor[1] + 1), box.top + toY(state.cursor[0] + 1));
    } else if (event.key === "+" || event.key === "=") smooth().call(zoom.scaleBy, 1.6);
    else if (event.key === "-") smooth().call(zoom.scaleBy, 1 / 1.6);
    else if (event.key === "0") smooth().call(zoom.transform, d3.zoomIdentity);
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => { state.cursor = null; R.tip.hide(); draw(); });

  /** Zoom so that the bicluster fills most of the canvas. */
  function focusOn(k) {
    const block = map.blocks[k];
    const from = [d3.min(block.cols, (c) => c[0]) / cols, d3.min(block.rows, (r) => r[0]) / rows];
    const to = [d3.max(block.cols, (c) => c[1]) / cols, d3.max(block.rows, (r) => r[1]) / rows];
    const k0 = Math.max(1, Math.min(60, 0.8 / Math.max(to[0] - from[0], to[1] - from[1])));
    const centre = [((from[0] + to[0]) / 2) * size.width, ((from[1] + to[1]) / 2) * size.height];
    smooth().call(zoom.transform, d3.zoomIdentity.translate(size.width / 2 - k0 * centre[0], size.height / 2 - k0 * centre[1]).scale(k0));
  }
  const chips = R.make("div", { class: "chips", role: "group", "aria-label": "Show one bicluster" }, ...map.blocks.map((_, k) => {
    const chip = R.make("button", { type: "button", class: "chip", "aria-pressed": "false" }, detail.names[k]);
    chip.addEventListener("click", () => {
      state.chosen = state.chosen === k ? -1 : k;
      chips.querySelectorAll("button").forEach((b, i) => b.setAttribute("aria-pressed", String(i === state.chosen)));
      if (state.chosen >= 0) focusOn(k);
      else smooth().call(zoom.transform, d3.zoomIdentity);
      draw();
    });
    return chip;
  }));
  const tool = (text, label, act) => R.make("button", { type: "button", "aria-label": label, onclick: act }, text);
  const scale = R.make("p", { class: "scale" });
  const show = (view) => {
    state.view = view;
    views.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === view)));
    paint();
    draw();
    R.scaleBar(scale, ranges[view], view === "standard");
  };
  const views = R.make("div", { class: "switch", role: "group", "aria-label": "Values shown" }, ...Object.entries({ raw: "As measured", standard: "Rows standardised" }).map(([view, text]) =>
    R.make("button", { type: "button", "data-view": view, "aria-pressed": String(view === map.view), onclick: () => show(view) }, text)));
  const tools = R.make("div", { class: "heat-tools" }, views,
    tool("+", "Zoom in", () => smooth().call(zoom.scaleBy, 1.6)), tool("−", "Zoom out", () => smooth().call(zoom.scaleBy, 1 / 1.6)),
    tool("Reset", "Show the whole matrix", () => smooth().call(zoom.transform, d3.zoomIdentity)), map.blocks.length ? chips : null);
  const frame = R.make("div", { class: "heat-frame" }, canvas);
  host.append(tools, frame, scale, live);
  R.picture(host, () => { draw(); R.scaleBar(scale, ranges[state.view], state.view === "standard"); });
  return frame;
};

R.heatColours = (range) => (range.fromZero ? R.sequential : R.diverging)(R.isDark());

R.scaleBar = function (bar, range, standard) {
  const canvas = R.make("canvas", { width: 160, height: 12, "aria-hidden": "true" });
  const value = (v) => R.number(range.unit ? range.unit * (2 ** v - 1) : v);
  const words = standard ? `standard deviations from the mean of the row as drawn${range.ofLogs ? ", of logarithms" : ""}` : range.unit ? "coloured by logarithm" : range.fromZero ? "no value is below 0" : `middle at the median ${R.number(range.middle)}`;
  bar.replaceChildren(R.make("span", {}, value(range.middle - range.reach), canvas, value(range.middle + range.reach)), `${words}; values beyond are clipped in colour only`);
  const context = canvas.getContext("2d"), colour = R.heatColours(range);
  d3.range(160).forEach((i) => { context.fillStyle = colour(i / 159); context.fillRect(i, 0, 1, 12); });
};
