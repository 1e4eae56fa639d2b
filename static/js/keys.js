// "/" goes to the page's search field, as it does in most tools an engineer lives in.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  const field = document.querySelector("[data-search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
