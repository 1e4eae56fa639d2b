// Keeps what is typed into a form on this machine until it is saved: a closed tab, a lost connection or a session that
// has ended costs no text. A form with data-draft names its draft; it is forgotten when the server says that it has saved
// it, and all are when one signs out.
(() => {
  const PREFIX = "ome-dashboard draft ";
  const KEPT = 30 * 24 * 3600 * 1000; // then nobody comes back to it

  let store;
  try { store = localStorage; store.length; } catch { return; } // it may be forbidden

  const nameOf = (field) => `${PREFIX}${field.form.dataset.draft} ${field.name}`;
  const read = (name) => { try { return JSON.parse(store.getItem(name)); } catch { return null; } };
  const write = (name, value) => { try { store.setItem(name, JSON.stringify(value)); } catch { /* it is full */ } };
  const names = () => Object.keys(store).filter((name) => name.startsWith(PREFIX));
  const fields = (form) => [...form.querySelectorAll("textarea[data-draft]")];

  const keep = (field, sent) => {
    if (field.value.trim() && field.value !== field.defaultValue) write(nameOf(field), { text: field.value, at: Date.now(), sent });
    else if (!sent) store.removeItem(nameOf(field));
  };

  const button = (words, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  };
  const offer = (field, text) => {
    const note = document.createElement("div");
    note.className = "notice draft-note";
    const words = document.createElement("p");
    const forget = button("Forget it", () => {
      store.removeItem(nameOf(field));
      if (field.value === text) field.value = field.defaultValue;
      note.remove();
      field.focus();
    });
    const put = () => { field.value = text; words.textContent = "This is what you wrote before. It isn't saved yet."; };
    note.append(words);
    if (field.value.trim()) {
      words.textContent = "You wrote something else here before, which isn't saved.";
      const use = button("Put it in", () => { put(); use.remove(); field.focus(); });
      note.append(use, " ", forget);
    } else {
      put();
      note.append(forget);
    }
    field.before(note);
  };

  const saved = document.querySelector(".notice.saved") !== null;
  for (const name of names()) {
    const kept = read(name);
    if (!kept || Date.now() - kept.at > KEPT || (saved && kept.sent)) store.removeItem(name);
  }
  for (const form of document.querySelectorAll("form[data-draft]")) {
    for (const field of fields(form)) {
      const kept = read(nameOf(field));
      if (kept && kept.text !== field.value) offer(field, kept.text);
    }
  }
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (field.matches?.("form[data-draft] textarea[data-draft]")) keep(field, false);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form[data-draft]")) for (const field of fields(event.target)) keep(field, true);
    else if (event.target.action.endsWith("/logout/")) for (const name of names()) store.removeItem(name);
  });
})();
