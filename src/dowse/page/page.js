"use strict";
// One script for all views. Every view works without it; with it, results come while typing and nothing is reloaded.
const find = (id) => document.getElementById(id);
const DEBOUNCE_MS = 30, SETTLE_MS = 400, BUSY_MS = 300, LIVE_MS = 1000, IDLE_MS = 5000;
const GROWTH = 0.2;

async function part(address, signal) {
  const answer = await fetch(address, { headers: { "X-Part": "1", Accept: "text/html" }, signal, credentials: "same-origin" });
  if (answer.status === 401) location.reload();
  return answer.text();
}

function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// Times are said as people say them, by the clock of the reader.
function ago(when) {
  const seconds = (Date.now() - when) / 1000;
  if (seconds < 45) return "just now";
  if (seconds >= 30 * 86400) return when.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
  const [size, unit] = seconds >= 86400 ? [86400, "day"] : seconds >= 3600 ? [3600, "hour"] : [60, "minute"];
  const count = Math.max(1, Math.round(seconds / size));
  return count + " " + unit + (count > 1 ? "s" : "") + " ago";
}
function tellTimes() {
  for (const time of document.querySelectorAll("time[datetime*=T]")) {
    const when = new Date(time.dateTime);
    time.title = when.toLocaleString([], { dateStyle: "long", timeStyle: "short" });
    time.textContent = ago(when);
  }
}
setInterval(tellTimes, 60000);

// Replaces a part that renews itself: lists stay open, and the keyboard stays where it is.
function replace(place, text) {
  const named = (name) => [...place.querySelectorAll("[data-name]")].find((one) => one.dataset.name === name);
  const open = [...place.querySelectorAll("details[open]")].map((one) => one.dataset.name);
  const focused = place.contains(document.activeElement) && document.activeElement.closest("[data-name]")?.dataset.name;
  place.innerHTML = text;
  tellTimes();
  for (const name of open) { const list = named(name); if (list) list.open = true; }
  const again = focused && named(focused);
  if (again) (again.querySelector("summary") || again).focus({ preventScroll: true });
}

// Tells the news to everybody, with a button for the reader to see them in their own time.
function tell(text, act) {
  const news = find("news");
  if (news.textContent !== text) news.textContent = text;
  if (!act) return;
  const button = document.createElement("button");
  button.textContent = "Show";
  button.addEventListener("click", act);
  news.append(" ", button);
}

function remember(store, name, value) { try { store.setItem("dowse-" + name, value); } catch { /* a private window */ } }
function recall(store, name) { try { return store.getItem("dowse-" + name); } catch { return null; } }

// Search -------------------------------------------------------------------------------------------------------------

function startSearch(form) {
  const box = find("q"), results = find("results");
  let timer = 0, running = null, shownFor = address(), chosen = -1, following = 0, tries = 0;

  function address() {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value && !(name === "mode" && value === "words")) fields.append(name, value);
    }
    return fields.toString();
  }

  function changed(isTyped) {
    clearTimeout(timer);
    timer = setTimeout(() => search(isTyped), isTyped && isBusy() ? DEBOUNCE_MS : 0);
  }

  const isBusy = () => document.body.classList.contains("busy");

  async function search(isTyped, query = address()) {
    if (query === shownFor) return;
    if (running) running.abort();
    const own = (running = new AbortController());
    document.body.classList.add("busy");
    const waiting = setTimeout(() => { if (running === own) tell("Searching…"); }, BUSY_MS);
    try {
      const text = await part("/results?" + query + (isTyped ? "&typed=1" : ""), own.signal);
      if (running !== own) return;
      show(text, query);
      if (isTyped) timer = setTimeout(() => settle(query), SETTLE_MS);
      history[isTyped && history.state === "typed" ? "replaceState" : "pushState"](isTyped ? "typed" : null, "", query ? "/?" + query : "/");
    } catch (error) {
      if (error.name !== "AbortError") results.textContent = "The server does not answer. Is dowse still running?";
    } finally {
      clearTimeout(waiting);
      if (running === own) document.body.classList.remove("busy");
    }
  }

  function show(text, query) {
    tell("");
    put(parse(text));
    shownFor = query;
    tries = 0;
    finish();
    document.title = box.value ? box.value.slice(0, 80) + " - dowse" : "dowse";
    const active = document.querySelector(".filters summary .active");
    const has = ["source", "kind", "language", "path", "since", "until"].some((name) => form.elements[name].value);
    if (active) active.hidden = !has;
    results.dispatchEvent(new CustomEvent("painted", { bubbles: true, detail: query }));
  }

  function put(content) {
    results.replaceChildren(content);
    tellTimes();
    listSearches();
    chosen = -1;
    follow();
  }

  const isUsed = () => chosen >= 0 || results.querySelector(".reason:not([hidden])") || !getSelection().isCollapsed;

  // While somebody types, the first results come alone, and some without colours. All of them follow in a pause.
  async function settle(query) {
    const own = running;
    try {
      const text = await part("/results?" + query, own?.signal);
      if (own !== running || query !== shownFor || isUsed()) return;
      put(parse(text));
      finish();
      if (box.value.trim().length > 2) noteSearch(query, box.value.trim());
    } catch { /* the next letter was typed */ }
  }

  // Colours that were not there in time follow.
  function finish() {
    if (results.querySelector("[data-late]") && tries++ < 3) timer = setTimeout(() => settle(shownFor), SETTLE_MS);
  }

  // While an index grows, the page says how far it is. The results are renewed when a fifth was added, and at the end.
  function follow(ms = LIVE_MS) {
    clearTimeout(following);
    if (results.querySelector(".growth[data-live]")) following = setTimeout(renew, ms);
  }

  async function renew() {
    const query = shownFor, shown = results.querySelector(".growth");
    let ms = LIVE_MS;
    try {
      if (!document.hidden && !isBusy()) {
        const now = parse(await part("/progress?" + query)).querySelector(".growth");
        if (!shown.isConnected) return;
        const isLive = now.dataset.live !== undefined, before = (shown.dataset.before ||= now.dataset.done);
        if (isLive) shown.innerHTML = now.innerHTML; else ms = IDLE_MS;
        if (!isLive || now.dataset.done - before >= GROWTH * now.dataset.expected) await offer(query, shown);
      }
    } catch { /* the server ends, or is started again */ }
    follow(ms);
  }

  // Results that change under the eyes of a reader who has scrolled or chosen one are shown when they want them.
  async function offer(query, shown) {
    const fresh = parse(await part("/results?" + query));
    if (!shown.isConnected || isBusy()) return;
    const paths = (place) => [...place.querySelectorAll(".hit h2 a")].map((one) => one.title);
    const old = paths(results), now = paths(fresh), count = now.filter((one) => !old.includes(one)).length;
    const isSame = old.join() === now.join();
    const news = count ? count + " new result" + (count > 1 ? "s" : "") : "The results have a new order";
    const isFree = !scrollY && !isUsed() && !results.contains(document.activeElement);
    if (isSame && find("news").querySelector("button")) tell("");  // an earlier offer, which is outdated
    if (isFree) { if (!isSame) tell(news); put(fresh); return; }
    shown.replaceWith(fresh.querySelector(".growth")?.cloneNode(true) || "");
    if (isSame) results.querySelector(".summary").replaceWith(fresh.querySelector(".summary"));
    else tell(news, () => { tell(""); put(fresh); scrollTo(0, 0); box.focus(); });
  }

  function choose(number) {
    const hits = [...results.querySelectorAll(".hit")];
    if (!hits.length) return;
    chosen = Math.max(-1, Math.min(number, hits.length - 1));
    hits.forEach((hit, at) => hit.classList.toggle("chosen", at === chosen));
    if (chosen < 0) { box.focus(); return; }
    hits[chosen].querySelector("h2 a").focus({ preventScroll: true });
    hits[chosen].scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); openFirst(); });
  function openFirst() {
    if (address() !== shownFor) { clearTimeout(timer); search(false); return; }
    const first = results.querySelector(".hit h2 a");
    if (first) first.click();
  }
  document.addEventListener("input", (event) => {  // some fields of the form are not inside of it
    if (event.target.form !== form) return;
    if (event.target.name === "mode") remember(localStorage, "mode", event.target.value);
    changed(event.target === box || event.target.type === "text");
  });
  find("clear").addEventListener("click", (event) => {
    event.preventDefault();
    for (const name of ["source", "kind", "language", "path", "since", "until"]) form.elements[name].value = "";
    changed(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const inList = event.target === box || event.target.closest?.("#results") || event.target === document.body;
      if (!inList) return;
      event.preventDefault();
      const focused = [...results.querySelectorAll(".hit")].indexOf(event.target.closest?.(".hit"));
      choose((focused >= 0 ? focused : chosen) + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      if (event.target === box && box.value) { box.value = ""; changed(false); }
      choose(-1);
      box.focus();
      box.select();
      event.preventDefault();
    }
  });
  results.addEventListener("click", async (event) => {
    const more = event.target.closest("a.more, .facets a, #searches a");
    if (more && more.pathname === "/" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      restore(more.search, true);
      scrollTo(0, 0);
      return;
    }
    const hit = event.target.closest(".hit");
    if (event.target.closest("h2 a")) remember(sessionStorage, "opened", location.search + "#" + hit.id);
    const link = event.target.closest("a.why");
    if (!link) return;
    event.preventDefault();
    const reason = hit.querySelector(".reason"), isShown = !reason.hidden && reason.dataset.shown === link.pathname;
    if (!isShown) reason.innerHTML = await part(link.href);
    reason.dataset.shown = link.pathname;
    reason.hidden = isShown;
  });

  async function restore(query, isNew) {
    const fields = new URLSearchParams(query);
    for (const name of ["q", "source", "kind", "language", "path", "since", "until"]) form.elements[name].value = fields.get(name) || "";
    form.elements.mode.value = fields.get("mode") || "words";
    const wanted = fields.toString();
    show(await part("/results?" + wanted), wanted);
    if (isNew) history.pushState(null, "", "/?" + wanted);
    if (isNew && fields.get("q")) noteSearch(wanted, fields.get("q"));
  }
  window.addEventListener("popstate", () => restore(location.search, false));

  const mode = recall(localStorage, "mode");
  if (!location.search && mode) form.elements.mode.value = mode;
  // Back from a result, the keyboard goes on where it was.
  const opened = (recall(sessionStorage, "opened") || "").split("#");
  const isBack = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  if (isBack && opened[0] === location.search) choose([...results.querySelectorAll(".hit")].findIndex((hit) => hit.id === opened[1]));
  shownFor = location.search.slice(1) ? new URLSearchParams(location.search).toString() : address();
  if (box.value.trim()) noteSearch(shownFor, box.value.trim());
  finish();
  follow();
}

// The last searches stay in this browser alone.
const KEPT_SEARCHES = 8;
function keptSearches() { try { return JSON.parse(recall(localStorage, "searches")) || []; } catch { return []; } }
function noteSearch(query, text) {
  const others = keptSearches().filter(([, one]) => one !== text && !text.startsWith(one + " ") && !(text.startsWith(one) && text.length - one.length < 4));
  remember(localStorage, "searches", JSON.stringify([[query, text.slice(0, 200)], ...others].slice(0, KEPT_SEARCHES)));
}
function listSearches() {
  const place = find("searches"), kept = keptSearches();
  if (!place || !kept.length) return;
  place.querySelector("ul").replaceChildren(...kept.map(([query, text]) => {
    const row = document.createElement("li"), link = document.createElement("a");
    link.href = "/?" + query;
    link.textContent = text;
    row.append(link);
    return row;
  }));
  place.hidden = false;
}

// Reading ------------------------------------------------------------------------------------------------------------

const LINE_PIXELS = 20;

function startReading(code) {
  const blocks = [...code.querySelectorAll(".block")];
  for (const block of blocks) block.style.containIntrinsicHeight = (block.dataset.to - block.dataset.from + 1) * LINE_PIXELS + "px";
  const waiting = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) { waiting.unobserve(one.target); colour(one.target); }
  }, { rootMargin: "400px" });
  blocks.filter((block) => block.dataset.plain !== undefined).forEach((block) => waiting.observe(block));

  async function colour(block) {
    const { from, to } = block.dataset;
    const text = await part("/lines?id=" + encodeURIComponent(code.dataset.id) + "&from=" + from + "&to=" + to);
    if (text) block.querySelector("code").innerHTML = text;
    delete block.dataset.plain;
  }

  let anchor = 0;
  code.addEventListener("click", (event) => {
    if (!event.target.matches(".nums")) { chooseName(event); return; }
    const block = event.target.closest(".block");
    const line = Number(block.dataset.from) + Math.floor((event.clientY - event.target.getBoundingClientRect().top) / LINE_PIXELS);
    const [first, last] = event.shiftKey && anchor ? [Math.min(anchor, line), Math.max(anchor, line)] : [line, line];
    if (!event.shiftKey) anchor = line;
    history.replaceState(null, "", location.pathname + location.search + "#L" + first + (last > first ? "-L" + last : ""));
    mark(false);
  });

  // A click on a name shows where it is defined and used.
  function chooseName(event) {
    if (code.dataset.symbols === undefined || !getSelection().isCollapsed || event.ctrlKey || event.metaKey) return;
    const place = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const range = place ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
    const node = place?.offsetNode || range?.startContainer, at = place ? place.offset : range?.startOffset;
    if (node?.nodeType !== Node.TEXT_NODE || node.parentElement.closest(".k, .s, .c, .n")) return;
    const before = /[\p{L}\p{N}_$]*$/u.exec(node.data.slice(0, at))[0], after = /^[\p{L}\p{N}_$]*/u.exec(node.data.slice(at))[0];
    const name = before + after;
    if (/^[\p{L}_$]/u.test(name) && name.length > 1) showSymbol(name, false);
  }

  function mark(isScrolled) {
    code.querySelectorAll(".chosen-lines").forEach((one) => one.remove());
    const range = lineRange();
    pointEditor();
    if (!range) return;
    let first = null;
    for (const block of blocks) {
      const from = Math.max(range[0], block.dataset.from), to = Math.min(range[1], block.dataset.to);
      if (from > to) continue;
      const shade = document.createElement("div");
      shade.className = "chosen-lines";
      shade.style.top = (from - block.dataset.from) * LINE_PIXELS + "px";
      shade.style.height = (to - from + 1) * LINE_PIXELS + "px";
      block.append(shade);
      first = first || [block, from - block.dataset.from];
    }
    if (first && isScrolled) {
      first[0].scrollIntoView({ block: "start" });
      window.scrollBy(0, first[1] * LINE_PIXELS - innerHeight / 4);
    }
  }
  window.addEventListener("hashchange", () => mark(true));
  mark(true);

  followLines(() => {
    const top = readingTop(), block = blocks.find((one) => one.getBoundingClientRect().bottom > top);
    if (!block) return null;
    const line = Number(block.dataset.from) + Math.max(0, Math.floor((top - block.getBoundingClientRect().top) / LINE_PIXELS));
    const around = [...document.querySelectorAll(".outline li[data-line]")].filter((one) => one.dataset.line <= line && one.dataset.end >= line);
    const names = around.map((one) => one.querySelector("a").textContent);
    return [around.at(-1)?.querySelector("a"), line > 1 ? [...names, "line " + line].join(" › ") : ""];
  });
}

const readingTop = () => (document.querySelector(".head")?.getBoundingClientRect().bottom || 0) + 8;

// The outline shows where the reader is, and the header says it.
function followLines(place) {
  let isPlanned = false;
  function show() {
    isPlanned = false;
    const [link, words] = place() || [];
    for (const one of document.querySelectorAll(".outline [aria-current]")) if (one !== link) one.removeAttribute("aria-current");
    if (find("where")) find("where").textContent = words || "";
    if (!link || link.hasAttribute("aria-current")) return;
    link.setAttribute("aria-current", "true");
    const side = link.closest(".side"), box = side.getBoundingClientRect(), own = link.getBoundingClientRect();
    if (own.top < box.top || own.bottom > box.bottom) side.scrollTop += own.top - box.top - box.height / 3;
  }
  const plan = () => { if (!isPlanned) { isPlanned = true; requestAnimationFrame(show); } };
  addEventListener("scroll", plan, { passive: true });
  document.addEventListener("loaded", plan);
  plan();
}

// The definition of the outline that is pointed at or in focus has a button for its uses.
function startOutline() {
  const uses = document.createElement("button");
  uses.className = "uses";
  uses.textContent = "uses";
  function offer(event) {
    const row = event.target.closest?.(".outline li[data-end]"), link = row?.querySelector("a");
    if (!link || link.dataset.sign === "§" || uses.parentElement === row) return;
    uses.dataset.symbol = link.textContent;
    uses.setAttribute("aria-label", "Uses of " + link.textContent);
    row.append(uses);
  }
  document.addEventListener("mouseover", offer);
  document.addEventListener("focusin", offer);
}

function lineRange() {
  const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  return found && [Number(found[1]), Math.max(Number(found[1]), Number(found[2] || found[1]))];
}

function pointEditor() {
  const link = find("editor");
  if (link) link.href = link.dataset.address.replace("{line}", lineRange()?.[0] || 1);
}

async function showSymbol(name, isFocused) {
  const panel = find("symbol"), id = document.querySelector(".code")?.dataset.id;
  if (!panel || !id) return;
  const address = new URL(location.href);
  address.searchParams.set("symbol", name);
  history.replaceState(history.state, "", address);
  panel.innerHTML = await part("/symbol?id=" + encodeURIComponent(id) + "&name=" + encodeURIComponent(name));
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.closest(".side").scrollTop = 0;
  const close = panel.querySelector(".close");
  if (close) close.hidden = false;
  loadParts(panel);
  if (isFocused) panel.querySelector("h2")?.focus({ preventScroll: true });
}

function hideSymbol() {
  find("symbol").hidden = true;
  const address = new URL(location.href);
  address.searchParams.delete("symbol");
  history.replaceState(history.state, "", address);
}

function startRendered(text) {
  function mark() {
    const range = lineRange();
    pointEditor();
    text.querySelectorAll(".target").forEach((one) => one.classList.remove("target"));
    if (!range) return;
    let best = null;
    for (const one of text.querySelectorAll("[data-line]")) if (Number(one.dataset.line) <= range[0]) best = one;
    if (best) { best.classList.add("target"); best.scrollIntoView({ block: "center" }); }
  }
  window.addEventListener("hashchange", mark);
  mark();
  const headings = [...text.querySelectorAll("[id^=md-]")];
  followLines(() => {
    const top = readingTop() + 20, heading = headings.findLast((one) => one.getBoundingClientRect().top <= top);
    return heading && [document.querySelector('.outline a[href="#' + CSS.escape(heading.id) + '"]') || null, heading.textContent];
  });
}

// Files and symbols by name -------------------------------------------------------------------------------------------

function startFinder(link) {
  const dialog = document.createElement("dialog");
  dialog.id = "finder";
  dialog.setAttribute("aria-label", "Go to a file or symbol");
  dialog.innerHTML = '<input type="search" aria-label="A part of a name" placeholder="Go to a file or symbol" autocomplete="off" spellcheck="false" maxlength="200"><div aria-live="polite"></div>';
  document.body.append(dialog);
  const box = dialog.firstChild, list = dialog.lastChild;
  let running = null;
  async function look() {
    running?.abort();
    const own = (running = new AbortController());
    try { list.innerHTML = await part("/find?q=" + encodeURIComponent(box.value), own.signal); } catch { /* the next letter was typed */ }
  }
  function open() {
    if (dialog.open) return;
    dialog.showModal();
    box.select();
    look();
  }
  box.addEventListener("input", look);
  dialog.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      (next < 0 ? box : links[Math.min(next, links.length - 1)] || box).focus();
    } else if (event.key === "Enter" && at < 0 && links.length) {
      event.preventDefault();
      links[0].click();
    }
    event.stopPropagation();
  });
  dialog.addEventListener("click", (event) => {
    const chosen = event.target.closest("a");
    if (event.target === dialog) dialog.close();
    // A place in the file that is open needs no other page, and the dialog would stay.
    if (chosen && chosen.href.split("#")[0] === location.href.split("#")[0]) dialog.close();
  });
  link.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey) { event.preventDefault(); open(); } });
  return open;
}

// Parts that are loaded after the view, and the live status ------------------------------------------------------------

async function load(late, address) {
  const wasLive = late.querySelector("[data-live]");
  try {
    const text = await part(address);
    replace(late, text);
    late.hidden = !text.trim();
  } catch { /* the server ends, or is started again */ }
  late.removeAttribute("data-part");
  listSearches();
  document.dispatchEvent(new Event("loaded"));
  const names = late.querySelector("template"), choice = find("search-form")?.elements.source;
  if (names && choice && !choice.value && names.content.childElementCount > choice.options.length) choice.replaceChildren(names.content);
  if (late.querySelector("[data-live]")) setTimeout(() => { if (late.isConnected) load(late, address); }, LIVE_MS);
  else if (wasLive && find("news")) tell("All files are indexed");
}
function loadParts(place) { for (const late of place.querySelectorAll("[data-part]")) load(late, late.dataset.part); }
// What stands beside a text comes after it.
if (find("results")) loadParts(document); else addEventListener("load", () => setTimeout(() => loadParts(document)));

function startStatus(status) {
  async function renew() {
    if (!document.hidden) {
      try { replace(status, await part("/status")); } catch { /* the server ends, or is started again */ }
    }
    setTimeout(renew, status.querySelector("[data-live]") ? LIVE_MS : IDLE_MS);
  }
  setTimeout(renew, status.querySelector("[data-live]") ? LIVE_MS : IDLE_MS);
}

const openFinder = find("find") && startFinder(find("find"));
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName) && document.activeElement.type !== "radio";
  const isControl = event.ctrlKey || event.metaKey;
  if (event.key === "k" && isControl && !event.shiftKey && openFinder) { event.preventDefault(); openFinder(); return; }
  if (event.key === "Escape" && find("symbol")?.hidden === false) { hideSymbol(); return; }
  if (event.defaultPrevented || isTyping || isControl || event.altKey) return;
  if (event.key === "t" && openFinder) { event.preventDefault(); openFinder(); }
  if (event.key === "/" && find("q")) { event.preventDefault(); find("q").focus(); find("q").select(); }
});
document.addEventListener("click", async (event) => {
  const uses = event.target.closest("[data-symbol]"), copy = event.target.closest("[data-copy], [data-copy-link]");
  if (uses) showSymbol(uses.dataset.symbol, true);
  if (event.target.closest("#symbol .close")) hideSymbol();
  if (!copy) return;
  const label = copy.textContent, address = new URL(location.href);
  address.searchParams.delete("symbol");
  try { await navigator.clipboard.writeText(copy.dataset.copy ?? address.href); copy.textContent = "Copied"; }
  catch { prompt("Copy this:", copy.dataset.copy ?? address.href); }  // over plain HTTP, browsers let nobody copy
  setTimeout(() => { copy.textContent = label; }, 1500);
});

// Elsewhere, the box leads to the search, as it was meant the last time.
const mode = recall(localStorage, "mode");
if (!find("results") && mode && find("search-form")) find("search-form").elements.mode.value = mode;

if (find("results")) startSearch(find("search-form"));
const code = document.querySelector(".code");
if (code) startReading(code);
if (code?.dataset.symbols !== undefined) startOutline();
const rendered = document.querySelector(".rendered");
if (rendered) startRendered(rendered);
if (find("status")) startStatus(find("status"));
const symbol = new URLSearchParams(location.search).get("symbol");
if (symbol && code) showSymbol(symbol, false);
tellTimes();
listSearches();
