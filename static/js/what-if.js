// The page of what-ifs: shows refusals, which come with an error's status; reads a chosen file into the field; and
// keeps the input in the part of a link that no browser sends to a server.
(() => {
  const form = document.querySelector("form[data-what-if]");
  if (!form) return;
  const field = (name) => form.elements.namedItem(name);
  const said = form.querySelector("[data-what-if-said]");
  const button = form.querySelector("[data-what-if-link]");
  const LONGEST = Number(form.dataset.whatIf); // characters of a link: longer ones get lost on their way
  const MOST = 2_000_000; // bytes that a link may unfold to
  const say = (text) => { said.textContent = text; };

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (detail.requestConfig?.elt !== form || ![413, 422, 429].includes(detail.xhr.status)) return;
    detail.shouldSwap = true;
    detail.isError = false;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.elt.id === "result") { event.detail.elt.focus({ preventScroll: true }); event.detail.elt.scrollIntoView(); }
  });

  field("file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file || file.size > MOST) return; // a large one is sent as it is
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      field("manifests").value = text;
      target.value = "";
      say(`${file.name} is in the field now.`);
    } catch { /* no text in UTF-8: the server says what is wrong with it */ }
  });

  // A link: "z." and deflated, or "p." and plain, in base64url

  const encoded = (bytes) => {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  };
  const decoded = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));

  const through = async (bytes, stream) => {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    const parts = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
      size += value.length;
      if (size > MOST) { await reader.cancel(); throw new RangeError("too large"); }
      parts.push(value);
    }
  };

  const NAMES = ["cluster", "version", "manifests", "delete"];
  const packed = async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(NAMES.map((name) => field(name).value)));
    if (typeof CompressionStream === "undefined") return `p.${encoded(bytes)}`;
    return `z.${encoded(await through(bytes, new CompressionStream("deflate-raw")))}`;
  };

  button.hidden = false;
  button.addEventListener("click", async () => {
    const hash = await packed();
    const link = `${location.origin}${location.pathname}#${hash}`;
    if (link.length > LONGEST) {
      say(`Too much for a link: it would have ${link.length.toLocaleString("en")} characters, at most ${LONGEST.toLocaleString("en")} arrive everywhere.`);
      return;
    }
    history.replaceState(history.state, "", `#${hash}`);
    try { await navigator.clipboard.writeText(link); say("Copied. The link holds all of what you gave, secrets too; no server gets it."); } catch { say("It is the address of this page now. It holds all of what you gave, secrets too; no server gets it."); }
  });

  const fill = async () => {
    const kind = location.hash.slice(1, 3);
    if (!["z.", "p."].includes(kind) || location.hash.length > LONGEST) return;
    try {
      let bytes = decoded(location.hash.slice(3));
      if (kind === "z.") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
      const values = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      if (!Array.isArray(values) || values.length !== NAMES.length || values.some((each) => typeof each !== "string")) throw new TypeError("not ours");
      NAMES.forEach((name, place) => { field(name).value = values[place]; });
      const select = field("cluster");
      if (select.selectedIndex < 0) select.value = "";
      say(values[0] && !select.value ? `Filled from the link. There is no cluster ${values[0]} here: choose one.` : "Filled from the link.");
    } catch { say("The link can't be read: it was cut, or changed, on its way."); }
  };
  addEventListener("hashchange", fill);
  fill();
})();
