// Keeps an open page true. Once a second the strip at the foot asks the server whether anything is new; when what the
// page shows has changed, the page is fetched and only what differs is put into it. So the focus, what is selected,
// typed, unfolded and scrolled to stays as it is. A hidden page asks nothing.
(() => {
  const EVERY = 1000;
  const SLOWEST = 10000;
  const FAILURES = 3; // so many in a row are no accident any more
  const SILENCE = 5000; // between two announcements

  const strip = () => document.getElementById("freshness");
  const main = () => document.getElementById("main");

  let askedAt = 0;
  let asking = false;
  let failures = 0;
  let lastAnswer = Date.now();
  let signedOut = false;
  let due = false; // what the page shows is older than the server's
  let waiting = false; // a part of it stayed as it was, for the reader is at it
  let fetching = null;

  // Ages

  let ahead = 0; // this clock before the server's, in milliseconds
  const setClock = () => { const now = Date.parse(strip()?.dataset.now); if (now) ahead = Date.now() - now; };
  const age = (seconds) => {
    for (const [least, unit, name] of [[172800, 86400, "d"], [7200, 3600, "h"], [120, 60, "min"], [5, 1, "s"]]) {
      if (seconds >= least) return `${Math.floor(seconds / unit)} ${name} ago`;
    }
    return "just now";
  };
  const showAges = () => {
    for (const each of document.querySelectorAll("time[data-age]")) {
      const text = age((Date.now() - ahead - Date.parse(each.dateTime)) / 1000);
      if (each.textContent !== text) each.textContent = text;
    }
  };

  // What happened, for assistive technology: not each second

  let rows = 0;
  let others = false;
  let speaking = 0;
  const speak = (text) => { const region = document.getElementById("announce"); if (region) region.textContent = text; };
  const announce = () => {
    if (!speaking) {
      if (rows) speak(rows === 1 ? "1 row changed" : `${rows} rows changed`);
      else if (others) speak("Updated");
      else return;
      rows = 0;
      others = false;
      speaking = setTimeout(() => { speaking = 0; announce(); }, SILENCE);
    }
  };

  // Putting a newer page into this one

  // What belongs to the reader, not to the server.
  const OWN = { DETAILS: ["open"], DIALOG: ["open"], INPUT: ["value", "checked"], OPTION: ["selected"], TEXTAREA: [] };

  // The element that what is selected lies in.
  const heldElement = () => {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const node = selection.getRangeAt(0).commonAncestorContainer;
    return node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  };
  const inUse = (form) => form.contains(document.activeElement) || [...form.elements].some((field) =>
    ["INPUT", "TEXTAREA"].includes(field.nodeName) && field.type !== "hidden"
      && (field.value !== field.defaultValue || field.checked !== field.defaultChecked));

  const key = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const link = ["TR", "LI"].includes(node.nodeName) && node.querySelector("th a[href], a[href]");
    return node.id || node.getAttribute("aria-labelledby") || (link && link.getAttribute("href")) || "";
  };
  const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && key(one) === key(other);

  class Renewal {
    constructor() {
      this.rows = new Set();
      this.others = false;
      this.late = false; // something had to stay, for the reader is at it
      this.held = heldElement();
    }

    note(node) {
      const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
      const row = element?.closest("tbody tr");
      if (row) this.rows.add(row);
      else if (node.nodeType === Node.ELEMENT_NODE || node.data.trim()) this.others = true;
    }

    attributes(old, fresh) {
      const own = OWN[old.nodeName] ?? [];
      for (const { name, value } of [...fresh.attributes]) {
        if (!own.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
      }
      for (const { name } of [...old.attributes]) {
        if (!own.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
      }
    }

    element(old, fresh) {
      if (old.isEqualNode(fresh)) return;
      if (old === this.held || (old.nodeName === "FORM" && inUse(old))) { this.late = true; return; }
      this.attributes(old, fresh);
      if (old.nodeName === "TIME" || old.nodeName === "TEXTAREA") return; // ages go on by themselves
      this.children(old, fresh);
    }

    // The children in the order of the fresh ones; those that are in both stay the same elements.
    children(old, fresh) {
      let place = old.firstChild;
      for (const wanted of fresh.childNodes) {
        let found = place;
        while (found && !alike(found, wanted)) found = found.nextSibling;
        if (!found) {
          const made = document.importNode(wanted, true);
          old.insertBefore(made, place);
          this.note(made);
          continue;
        }
        if (found === place) place = place.nextSibling;
        else if (found.contains(this.held)) { this.late = true; continue; }
        else old.insertBefore(found, place);
        if (found.nodeType === Node.ELEMENT_NODE) this.element(found, wanted);
        else if (found.data !== wanted.data) this.text(found, wanted.data);
      }
      while (place) {
        const gone = place;
        place = place.nextSibling;
        if (gone.nodeType === Node.ELEMENT_NODE && gone.hasAttribute("data-keep")) continue;
        if (gone.contains(this.held)) { this.late = true; continue; }
        if (gone.nodeType === Node.ELEMENT_NODE || gone.data.trim()) this.note(gone);
        gone.remove();
      }
    }

    text(old, data) {
      old.data = data;
      this.note(old);
    }
  }

  const renew = (page) => {
    const fresh = page.getElementById("main");
    if (!fresh) return;
    const focused = document.activeElement;
    const renewal = new Renewal();
    renewal.element(main(), fresh);
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
    htmx.process(main());
    document.title = page.title;
    for (const row of renewal.rows) {
      row.classList.add("is-new");
      setTimeout(() => row.classList.remove("is-new"), 2000);
    }
    rows += renewal.rows.size;
    others ||= renewal.others;
    showAges();
    announce();
    waiting = renewal.late;
  };

  const busy = () => document.querySelector("#main .htmx-request") !== null;

  const refresh = async () => {
    if (fetching || busy()) return; // it stays due
    const address = location.href;
    fetching = new AbortController();
    const limit = setTimeout(() => fetching?.abort(), SLOWEST);
    try {
      const answer = await fetch(address, { signal: fetching.signal, cache: "no-store", headers: { "X-Live": "1" } });
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) return; // the strip will say why
      if (answer.status >= 500) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (location.href !== address || busy()) return; // somebody filters: that page is of no use any more
      due = false;
      renew(page);
    } catch {
      // The strip says so when the server is gone.
    } finally {
      clearTimeout(limit);
      fetching = null;
    }
  };

  // Asking

  const say = (text, link) => {
    const told = strip()?.querySelector("[data-connection]");
    if (!told || (told.textContent === text && !told.hidden)) return;
    told.hidden = !text;
    strip().classList.toggle("is-cut", Boolean(text)); // what it says of the clusters isn't known any more
    told.textContent = text;
    if (link) {
      const there = document.createElement("a");
      there.href = link;
      there.textContent = "Sign in again";
      told.append(" ", there);
    }
    if (text) speak(text);
  };
  const clock = (moment) => new Date(moment).toLocaleTimeString([], { hour12: false });

  const tick = () => {
    showAges();
    if (document.hidden || signedOut || !strip()) return;
    const now = Date.now();
    if (asking && now - askedAt < 2 * SLOWEST) return;
    // A server that is gone is asked more and more seldom.
    if (failures > FAILURES && now - askedAt < Math.min(SLOWEST, EVERY * (failures - FAILURES + 1))) return;
    asking = true;
    askedAt = now;
    htmx.trigger(strip(), "live-tick");
    if (due) refresh();
  };

  // Once it is swapped the event comes from what is around it.
  const ours = (event) => event.detail.requestConfig?.elt?.id === "freshness";

  document.addEventListener("fleet-changed", () => { due = true; refresh(); });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!ours(event)) return;
    asking = false;
    const status = event.detail.xhr.status;
    if (status === 401 || status === 403) {
      signedOut = true;
      const back = encodeURIComponent(location.pathname + location.search);
      say("Signed out: this page stays as it is.", `${strip().dataset.signIn}?next=${back}`);
    } else if (event.detail.successful) {
      failures = 0;
      lastAnswer = Date.now();
      say("");
    } else {
      failures += 1;
      if (failures >= FAILURES) say(`Not connected, last checked ${clock(lastAnswer)}.`);
    }
  });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.detail.target?.id === "freshness") setClock(); });
  const letGo = () => { if (waiting && getSelection().isCollapsed) { waiting = false; due = true; } };
  document.addEventListener("focusout", letGo);
  document.addEventListener("selectionchange", letGo);
  document.addEventListener("visibilitychange", tick);
  addEventListener("pageshow", (event) => { if (event.persisted) { asking = false; tick(); } });

  setClock();
  setInterval(tick, EVERY);
})();
