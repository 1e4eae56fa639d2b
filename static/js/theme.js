// Runs before the page is drawn, so that a remembered theme doesn't flash. Without it the system's theme is used.
(() => {
  const root = document.documentElement;
  const themes = ["system", "light", "dark"];
  const read = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const write = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* private windows may refuse */ } };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme; else delete root.dataset.theme;
  };

  root.classList.add("js");
  let theme = themes.includes(read()) ? read() : "system";
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-switch]");
    if (!button) return;
    const say = () => { button.querySelector("span").textContent = theme; };
    button.hidden = false;
    say();
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      write(theme);
      apply(theme);
      say();
    });
  });
})();
