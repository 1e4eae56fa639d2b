// A button with data-copy copies the text beside it in its .exact box; with data-copy="<id>" that of the element.
// A link in data-copy-link is copied as a whole address.
// One listener for the page, so that it also serves what htmx swaps in.
(() => {
  const say = (text) => { const region = document.getElementById("announce"); if (region) region.textContent = text; };

  const copied = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* not over plain http: try the old way */ }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-link]");
    if (!button) return;
    const { copy: id, copyLink: link } = button.dataset;
    const source = id ? document.getElementById(id) : button.closest(".exact")?.querySelector("code, pre");
    if (link === undefined && !source) return;
    const done = await copied(link === undefined ? source.textContent : new URL(link, location.href).href);
    button.focus();
    const before = button.dataset.label ?? button.textContent;
    button.dataset.label = before;
    button.textContent = done ? "Copied" : link === undefined ? "Press Ctrl+C" : "Not copied";
    if (!done && source) getSelection().selectAllChildren(source);
    if (done) say("Copied"); else say(source ? "Selected: press Ctrl+C to copy" : "Not copied: it is the address of this page");
    setTimeout(() => { button.textContent = before; }, 2000);
  });
})();
