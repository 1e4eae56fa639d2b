// The exact moment on hover, in the reader's own time zone and in UTC. It is made when somebody points at it, so that
// it holds for what htmx and live.js put into the page, too.
(() => {
  const local = (moment) => moment.toLocaleString("sv-SE", { timeZoneName: "short" });
  const utc = (moment) => moment.toISOString().slice(11, 19);
  const tell = (event) => {
    const time = event.target.closest?.("time[datetime]");
    if (!time) return;
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = `${local(moment)} (${utc(moment)} UTC)`;
  };
  document.addEventListener("pointerover", tell);
  document.addEventListener("focusin", tell);
})();
