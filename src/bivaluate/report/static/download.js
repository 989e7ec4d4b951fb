"use strict";
/* Every table can be saved as CSV, every figure as SVG and PNG; nothing leaves the page but the file. */
R.save = function (name, type, content) {
  const link = R.make("a", { download: name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") });
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

/** A cell of a CSV file: an apostrophe before what a spreadsheet would take for a formula, quotes where needed. */
R.csvCell = function (value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const bare = String(value).replace(/^'+/, ""), formula = /^[=+\-@\t\r]/.test(bare) && Number.isNaN(Number(value));
  const text = formula ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
R.saveTable = (name, lines) => R.save(`${name}.csv`, "text/csv", lines.map((line) => line.map(R.csvCell).join(",")).join("\n") + "\n");

R.saveButton = (text, label, act) => R.make("button", { type: "button", class: "save", "aria-label": label, onclick: act }, text);

/** The tables written by Python: sections of the page and its provenance. */
R.plainTables = function () {
  document.querySelectorAll("table.plain").forEach((table) => {
    const name = table.dataset.name || "table", lines = () => [...table.rows].map((row) => [...row.cells].map((cell) => (cell.dataset.value === undefined ? cell.textContent.replace(/^–$/, "").replace(/^−(?=\d)/, "-") : Number(cell.dataset.value))));
    table.closest(".scroll").after(R.make("p", { class: "saves" }, R.saveButton("CSV", `Download ${name} as CSV`, () => R.saveTable(name, lines()))));
  });
  document.querySelectorAll(".figures img").forEach((image) => {
    const kind = /^data:image\/(\w+)/.exec(image.src)[1];
    image.closest("figure").append(R.make("a", { class: "save", href: image.src, download: `${image.alt.slice(0, 60)}.${kind === "svg" ? "svg" : kind}`, "aria-label": `Download the figure: ${image.alt}` }, kind.toUpperCase()));
  });
};

/** Everything drawn in `host` as one SVG document, laid out as on the page: pictures, canvases and their small headings. */
R.drawing = function (host) {
  const shown = [...host.querySelectorAll("svg, canvas, h4, .legend li")].filter((part) => part.getClientRects().length && !part.parentElement.closest("svg"));
  const boxes = shown.map((part) => part.getBoundingClientRect()), left = d3.min(boxes, (b) => b.left), top = d3.min(boxes, (b) => b.top);
  const width = Math.ceil(d3.max(boxes, (b) => b.right) - left), height = Math.ceil(d3.max(boxes, (b) => b.bottom) - top), pad = 12;
  const svg = d3.create("svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("width", width + 2 * pad).attr("height", height + 2 * pad).attr("viewBox", `${-pad} ${-pad} ${width + 2 * pad} ${height + 2 * pad}`);
  svg.append("rect").attr("x", -pad).attr("y", -pad).attr("width", width + 2 * pad).attr("height", height + 2 * pad).attr("fill", R.token("--bg"));
  shown.forEach((part, i) => {
    const box = boxes[i], x = box.left - left, y = box.top - top;
    if (part instanceof SVGElement) {
      const copy = part.cloneNode(true);
      R.inline(part, copy);
      d3.select(copy).attr("x", x).attr("y", y).attr("width", box.width).attr("height", box.height).attr("overflow", "visible");
      svg.node().append(copy);
    } else if (part instanceof HTMLCanvasElement) {
      svg.append("image").attr("x", x).attr("y", y).attr("width", box.width).attr("height", box.height).attr("href", part.toDataURL());
    } else {
      svg.append("text").attr("x", x + (part.querySelector("svg") ? 20 : 0)).attr("y", y + box.height * 0.72).attr("font-family", "sans-serif").attr("font-size", 13).attr("fill", R.token("--ink")).text(part.textContent);
    }
  });
  return { svg: svg.node(), width: width + 2 * pad, height: height + 2 * pad };
};
R.INLINED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "paint-order", "visibility"];
R.inline = function (from, to) {
  const style = getComputedStyle(from);
  R.INLINED.forEach((name) => { to.removeAttribute(name); to.style.setProperty(name, style.getPropertyValue(name)); });
  [...from.children].forEach((child, i) => R.inline(child, to.children[i]));
};

R.savePicture = function (host, name, kind) {
  const { svg, width, height } = R.drawing(host), text = new XMLSerializer().serializeToString(svg);
  if (kind === "svg") return R.save(`${name}.svg`, "image/svg+xml", text);
  const image = new Image();
  image.onload = () => {
    const canvas = R.make("canvas", { width: 2 * width, height: 2 * height }), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => R.save(`${name}.png`, "image/png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
};

/** Buttons beside the title of a figure. */
R.pictureButtons = (host, name) => R.make("span", { class: "saves" }, ...["svg", "png"].map((kind) => R.saveButton(kind.toUpperCase(), `Download ${name} as ${kind.toUpperCase()}`, () => R.savePicture(host(), name, kind))));
