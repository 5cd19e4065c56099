"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes, edges = data.edges;
const find = (id) => document.getElementById(id);
const canvas = find("picture"), pen = canvas.getContext("2d"), tip = find("tip");
const MAX_LISTED = 200, MAX_ARROWS = 3000;

nodes.forEach((node, number) => {
  node.number = number;
  node.cites = [];
  node.citedBy = [];
  node.haystack = (node.title + "\n" + node.question + "\n" + node.path + "\n" + node.text).toLowerCase();
});
edges.forEach(([from, to]) => { nodes[from].cites.push(to); nodes[to].citedBy.push(from); });

const view = { x: 0, y: 0, scale: 1 };
const shown = { query: "", sources: new Set(Object.keys(data.names)), from: "", to: "", undated: true };
let selected = null, over = null, visible = new Set(), found = null, isPaintScheduled = false;

function place(node) {
  return [node.x * view.scale + view.x, node.y * view.scale + view.y];
}

function isVisible(node) {
  if (!shown.sources.has(node.source)) return false;
  if (!shown.from && !shown.to) return shown.undated || node.date !== "";
  if (!node.date) return shown.undated;
  // A month without a day is in the range if any of its days is.
  const last = node.date.length === 7 ? node.date + "-31" : node.date;
  return (!shown.from || last >= shown.from) && (!shown.to || node.date <= shown.to);
}

function apply() {
  visible = new Set(nodes.filter(isVisible).map((node) => node.number));
  const words = shown.query.toLowerCase().split(/\s+/).filter(Boolean);
  found = words.length
    ? new Set([...visible].filter((number) => words.every((word) => nodes[number].haystack.includes(word))))
    : null;
  list();
  const citations = edges.filter(([from, to]) => visible.has(from) && visible.has(to)).length;
  find("count").textContent =
    (found ? found.size + " found of " : "") + visible.size + " documents, " + citations + " citations";
  draw();
}

function list() {
  const members = [...(found || visible)].map((number) => nodes[number]);
  const rank = (node) => (node.start ? 1e6 : 0) + node.citedBy.length;
  members.sort((one, other) => rank(other) - rank(one) || (one.title < other.title ? -1 : 1));
  const items = members.slice(0, MAX_LISTED).map((node) => item(node));
  if (members.length > MAX_LISTED) {
    const more = document.createElement("li");
    more.className = "faint";
    more.textContent = "and " + (members.length - MAX_LISTED) + " more; search to see them";
    items.push(more);
  }
  find("list").replaceChildren(...items);
}

function item(node) {
  const line = document.createElement("li"), button = document.createElement("button");
  button.textContent = node.title || node.path;
  button.dataset.id = node.id;
  button.addEventListener("click", () => select(node, true));
  line.append(button);
  return line;
}

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function anchor(text, address) {
  const made = element("a", text);
  made.href = address;
  if (!address.startsWith("/")) {
    made.target = "_blank";
    made.rel = "noopener noreferrer";
  }
  return made;
}

function select(node, isCentred) {
  selected = node;
  document.body.dataset.selected = node ? node.id : "";
  const detail = find("detail");
  detail.hidden = !node;
  if (node) {
    const about = [node.date, data.names[node.source], node.type].filter(Boolean).join(", ");
    detail.replaceChildren(element("h2", node.title), element("p", about, "faint"), element("p", node.path, "faint"));
    if (node.question) detail.append(element("p", "Question: " + node.question));
    const links = document.createElement("p");
    if (node.file) links.append(anchor("Open the file", node.file), " ");
    if (node.url) links.append(anchor("Open the page", node.url));
    detail.append(links);
    if (node.text) detail.append(element("pre", node.text + (node.whole ? "" : "\n…")));
    for (const [heading, members] of [["Cites", node.cites], ["Cited by", node.citedBy]]) {
      if (members.length) {
        const lines = document.createElement("ul");
        lines.append(...members.map((number) => item(nodes[number])));
        detail.append(element("h3", heading + " (" + members.length + ")"), lines);
      }
    }
    detail.parentElement.scrollTop = 0;
    if (isCentred) centre(node);
  }
  draw();
}

function centre(node) {
  const [x, y] = place(node);
  const isOutside = x < 60 || y < 60 || x > canvas.clientWidth - 60 || y > canvas.clientHeight - 60;
  if (isOutside) {
    view.x += canvas.clientWidth / 2 - x;
    view.y += canvas.clientHeight / 2 - y;
  }
}

function showAll() {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  view.scale = Math.min(width, height) * 0.9;
  view.x = (width - view.scale) / 2;
  view.y = (height - view.scale) / 2;
  draw();
}

function zoom(factor, x, y) {
  const scale = Math.min(60, Math.max(0.2, (view.scale * factor) / canvas.clientHeight)) * canvas.clientHeight;
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  draw();
}

function draw() {
  if (!isPaintScheduled) {
    isPaintScheduled = true;
    requestAnimationFrame(paint);
  }
}

// Compute the position and size of all documents once per frame, because reading the size of the canvas is slow.
function measure(width, height) {
  const grown = Math.sqrt(Math.max(0.6, view.scale / Math.min(width, height)));
  for (const node of nodes) {
    node.px = node.x * view.scale + view.x;
    node.py = node.y * view.scale + view.y;
    node.pr = Math.max(2, node.r * grown);
  }
}

function paint() {
  isPaintScheduled = false;
  const style = getComputedStyle(document.body), ink = style.color;
  const paper = style.backgroundColor, ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  measure(width, height);
  const near = selected ? new Set([selected.number, ...selected.cites, ...selected.citedBy]) : null;
  const isStrong = (number) => (near ? near.has(number) : !found || found.has(number));
  const behind = [], own = [];
  for (const edge of edges) {
    if (!visible.has(edge[0]) || !visible.has(edge[1])) continue;
    (selected !== null && (edge[0] === selected.number || edge[1] === selected.number) ? own : behind).push(edge);
  }
  lines(behind, selected || found ? 0.08 : 0.25, 0.7, behind.length > MAX_ARROWS ? 0 : 4.5, ink);
  lines(own, 0.9, 1.4, 7, ink);
  for (const node of nodes) {
    if (!visible.has(node.number)) continue;
    const x = node.px, y = node.py, radius = node.pr;
    if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
    pen.globalAlpha = isStrong(node.number) ? 1 : 0.18;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = data.colours[node.source];
    pen.fill();
    pen.lineWidth = node === selected ? 3 : node.start ? 2 : 1;
    pen.strokeStyle = node === selected || node.start ? ink : paper;
    pen.stroke();
  }
  pen.globalAlpha = 1;
  labels(isStrong, ink, paper, width, height);
}

// Stroke a hundred lines at a time: one by one takes twice as long, and so does all at once.
function lines(members, alpha, width, head, ink) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = pen.fillStyle = ink;
  pen.lineWidth = width;
  const heads = new Path2D();
  for (const isSure of [true, false]) {
    pen.setLineDash(isSure ? [] : [4, 3]);
    let count = 0;
    pen.beginPath();
    for (const [from, to, confidence] of members) {
      if (confidence >= 1 !== isSure) continue;
      const one = nodes[from], other = nodes[to], across = other.px - one.px, down = other.py - one.py;
      const length = Math.hypot(across, down) || 1, back = other.pr + 1;
      const x = other.px - (across / length) * back, y = other.py - (down / length) * back;
      pen.moveTo(one.px, one.py);
      pen.lineTo(x, y);
      if (++count % 100 === 0) { pen.stroke(); pen.beginPath(); }
      if (head && length > 3 * back) {
        const angle = Math.atan2(down, across);
        heads.moveTo(x, y);
        heads.lineTo(x - head * Math.cos(angle - 0.4), y - head * Math.sin(angle - 0.4));
        heads.lineTo(x - head * Math.cos(angle + 0.4), y - head * Math.sin(angle + 0.4));
      }
    }
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.fill(heads);
  pen.globalAlpha = 1;
}

function labels(isStrong, ink, paper, width, height) {
  const members = nodes.filter((node) => visible.has(node.number) && isStrong(node.number));
  const rank = (node) => (node === selected || node === over ? 1e9 : 0) + (node.start ? 1e6 : 0) + node.citedBy.length;
  members.sort((one, other) => rank(other) - rank(one));
  const taken = [];
  pen.font = "12px system-ui, sans-serif";
  pen.lineJoin = "round";
  for (const node of members.slice(0, 400)) {
    const x = node.px, y = node.py;
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const name = node.title.length > 40 ? node.title.slice(0, 39) + "…" : node.title;
    const left = x + node.pr + 3, box = [left, y - 8, left + pen.measureText(name).width, y + 8];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
    taken.push(box);
    pen.strokeStyle = paper;
    pen.lineWidth = 3;
    pen.strokeText(name, left, y + 4);
    pen.fillStyle = ink;
    pen.fillText(name, left, y + 4);
    if (taken.length >= 60) break;
  }
}

function nodeAt(x, y) {
  let best = null, least = Infinity;
  for (const node of nodes) {
    if (!visible.has(node.number)) continue;
    const distance = Math.hypot(node.px - x, node.py - y) - node.pr;
    if (distance < 4 && distance < least) { best = node; least = distance; }
  }
  return best;
}

// Two fingers zoom. One finger drags the document it started on, or else the whole picture.
const fingers = new Map();
let dragged = null, began = null;

function point(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener("pointerdown", (event) => {
  const [x, y] = point(event);
  fingers.set(event.pointerId, [x, y]);
  canvas.setPointerCapture(event.pointerId);
  dragged = fingers.size === 1 ? nodeAt(x, y) : null;
  began = [x, y];
  canvas.classList.add("dragging");
});

canvas.addEventListener("pointermove", (event) => {
  const [x, y] = point(event), before = fingers.get(event.pointerId);
  if (!before) {
    hover(nodeAt(x, y), x, y);
    return;
  }
  fingers.set(event.pointerId, [x, y]);
  const other = [...fingers].find(([id]) => id !== event.pointerId);
  if (other) {
    const [ox, oy] = other[1];
    zoom(Math.hypot(x - ox, y - oy) / (Math.hypot(before[0] - ox, before[1] - oy) || 1), (x + ox) / 2, (y + oy) / 2);
  } else if (dragged) {
    dragged.x += (x - before[0]) / view.scale;
    dragged.y += (y - before[1]) / view.scale;
    draw();
  } else {
    view.x += x - before[0];
    view.y += y - before[1];
    draw();
  }
});

function release(event) {
  const at = fingers.get(event.pointerId);
  fingers.delete(event.pointerId);
  canvas.classList.remove("dragging");
  const isClick = at && began && Math.hypot(at[0] - began[0], at[1] - began[1]) < 4 && event.type === "pointerup";
  if (isClick && fingers.size === 0) select(nodeAt(at[0], at[1]), false);
  dragged = null;
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => hover(null, 0, 0));

function hover(node, x, y) {
  canvas.classList.toggle("over", node !== null);
  tip.hidden = node === null;
  if (node) {
    tip.textContent = node.title + (node.date ? " (" + node.date + ")" : "");
    tip.style.left = Math.min(x + 14, canvas.clientWidth - 200) + "px";
    tip.style.top = y + 14 + "px";
  }
  if (node !== over) { over = node; draw(); }
}

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const [x, y] = point(event);
  zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) * 0.002), x, y);
}, { passive: false });

canvas.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
  if (step) { view.x += step[0]; view.y += step[1]; draw(); }
  if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8, canvas.clientWidth / 2, canvas.clientHeight / 2);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") select(null, false);
  if (event.key === "/" && document.activeElement.tagName !== "INPUT") { event.preventDefault(); find("search").focus(); }
});

find("in").addEventListener("click", () => zoom(1.4, canvas.clientWidth / 2, canvas.clientHeight / 2));
find("out").addEventListener("click", () => zoom(1 / 1.4, canvas.clientWidth / 2, canvas.clientHeight / 2));
find("all").addEventListener("click", showAll);
find("search").addEventListener("input", (event) => { shown.query = event.target.value; apply(); });
for (const name of ["from", "to"]) {
  find(name).addEventListener("input", (event) => { shown[name] = event.target.value; apply(); });
}
find("undated").addEventListener("change", (event) => { shown.undated = event.target.checked; apply(); });
find("undated-label").hidden = nodes.every((node) => node.date) || nodes.every((node) => !node.date);
for (const [source, name] of Object.entries(data.names)) {
  if (!nodes.some((node) => node.source === source) || Object.keys(data.names).length < 2) continue;
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = true;
  box.id = "source-" + source;
  box.addEventListener("change", () => {
    if (box.checked) shown.sources.add(source); else shown.sources.delete(source);
    apply();
  });
  const dot = element("b", " ● ");
  dot.style.color = data.colours[source];
  label.append(box, dot, name);
  find("sources").append(label);
}
find("title").textContent = data.title;
find("title").title = data.note;
new ResizeObserver(draw).observe(canvas);
showAll();
apply();
// For tests that control the page: return the position of a document in pixels of the window.
window.placeOf = (id) => {
  const [x, y] = place(nodes.find((node) => node.id === id)), box = canvas.getBoundingClientRect();
  return [x + box.left, y + box.top];
};
