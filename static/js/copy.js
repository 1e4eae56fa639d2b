// A button with data-copy copies the text beside it in its .exact box; with data-copy="<id>" that of the element.
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
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const id = button.dataset.copy;
    const source = id ? document.getElementById(id) : button.closest(".exact")?.querySelector("code, pre");
    if (!source) return;
    const done = await copied(source.textContent);
    button.focus();
    const before = button.dataset.label ?? button.textContent;
    button.dataset.label = before;
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    if (!done) getSelection().selectAllChildren(source);
    say(done ? "Copied" : "Selected: press Ctrl+C to copy");
    setTimeout(() => { button.textContent = before; }, 2000);
  });
})();
