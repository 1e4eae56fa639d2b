// The keys that the help ("?") tells: search, filter, go to a page, through a review. None acts while somebody types.
(() => {
  const SOON = 1500; // milliseconds between "g" and the letter
  let wentAt = -Infinity; // the clock's time, which a test can hold

  // Who speaks to the browser, or reads with single keys of their own, turns these off; the browser remembers it.
  const read = () => { try { return localStorage.getItem("keys"); } catch { return null; } };
  const write = (word) => { try { localStorage.setItem("keys", word); } catch { /* private windows may refuse */ } };
  let off = read() === "off";

  // A dialog that was closed keeps the focus until the browser draws the page: only an open one takes the keys.
  const typing = (target) => target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], dialog[open]");
  const focusOn = (selector) => {
    const field = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
    field?.focus();
    field?.select?.();
    return Boolean(field);
  };
  const follow = (selector) => {
    const link = document.querySelector(selector);
    link?.click();
    return Boolean(link);
  };
  // In a review: choose an answer, and go where its next word is wanted.
  const answer = (number) => {
    const choice = document.querySelector(`main [data-answer="${number}"]`);
    if (!choice) return false;
    choice.checked = true;
    const next = { "needs-change": "[name=owner]", accepted: "[name=reason]" }[choice.value] || "[data-save]";
    return focusOn(`main .answer ${next}`);
  };
  const help = () => {
    document.querySelector("[data-keys-switch]").checked = !off;
    document.getElementById("keys").showModal();
    return true;
  };

  const pressed = (event) => {
    if (Date.now() - wentAt < SOON) {
      wentAt = -Infinity;
      return /^[a-z]$/.test(event.key) && follow(`[data-go="${event.key}"]`);
    }
    switch (event.key) {
      case "/": return focusOn("[data-search]");
      case "f": return focusOn("[data-filter]");
      case "[": return follow("main [rel=prev]");
      case "]": return follow("main [rel=next]");
      case "j": return follow("main [data-item=next]");
      case "k": return follow("main [data-item=previous]");
      case "1": case "2": case "3": return answer(event.key);
      case "s": return focusOn("main [data-save]");
      case "c": return focusOn("main .say textarea");
      case "?": return help();
      case "g": wentAt = Date.now(); return false;
      default: return false;
    }
  };

  // The field at the top and what is found under it: one row of stops for the arrows.
  const panel = () => document.getElementById("search-results");
  const stops = () => [document.getElementById("search"), ...document.querySelectorAll("#search-results [data-found]")];
  const leave = () => {
    panel().replaceChildren();
    document.getElementById("search").focus();
  };
  const searching = (event) => {
    if (!event.target.closest(".search")) return false;
    const row = stops();
    const place = row.indexOf(document.activeElement);
    if (event.key === "ArrowDown") row[Math.min(place + 1, row.length - 1)].focus();
    else if (event.key === "ArrowUp") row[Math.max(place - 1, 0)].focus();
    else if (event.key === "Escape") leave();
    else return false;
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (searching(event) || (!off && !typing(event.target) && pressed(event))) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-help]")) help();
    else if (event.target.id === "keys") event.target.close(); // beside the box
    else if (!event.target.closest(".search")) panel()?.replaceChildren();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.closest("[data-keys-switch]")) return;
    off = !event.target.checked;
    write(off ? "off" : "on");
  });
  document.addEventListener("focusin", (event) => {
    if (!event.target.closest(".search")) panel()?.replaceChildren();
  });
})();
