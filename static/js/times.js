// The exact moment on hover, in the reader's own time zone and in UTC. It is made when somebody points at it, so that
// it holds for what htmx and live.js put into the page, too.
(() => {
  // Each part is asked for by its width: left to itself the first hour of a day is "0", not "00".
  const two = "2-digit";
  const parts = { year: "numeric", month: two, day: two, hour: two, minute: two, second: two, hourCycle: "h23" };
  const local = (moment) => moment.toLocaleString("sv-SE", { ...parts, timeZoneName: "short" });
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
