// The search box of the masthead. htmx fills its panel; here are the keys, and when the panel closes.
(() => {
  const find = (selector) => document.querySelector(selector);
  const [box, panel, slash] = ["#site-q, #q", "#site-results", "#slash"].map(find);
  const form = panel?.parentElement;
  let off;
  try { off = localStorage.slash === "off"; } catch { /* no storage: the key works */ }

  slash.ariaPressed = !off;
  slash.addEventListener("click", () => {
    off = !off;
    slash.ariaPressed = !off;
    try { localStorage.slash = off ? "off" : ""; } catch { /* it holds for this page */ }
  });
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    const go = (to) => { event.preventDefault(); to.focus(); };
    if (key === "/" && !off && !event.ctrlKey && !event.metaKey && !event.altKey && !target.matches("input, textarea, select")) go(box);
    if (!panel?.firstChild || !form.contains(target)) return;
    const stops = [box, ...panel.querySelectorAll("a")];
    const stop = stops[stops.indexOf(target) + { ArrowDown: 1, ArrowUp: -1 }[key]];
    if (stop) go(stop);
    if (key === "Escape") go(box), panel.replaceChildren();
  });
  if (!form) return;
  const inside = (element) => form.contains(element);
  for (const type of ["focusin", "pointerdown"]) addEventListener(type, ({ target }) => inside(target) || panel.replaceChildren());
  // An answer that comes when the reader has gone on, or that never comes, changes nothing.
  form.addEventListener("htmx:beforeSwap", ({ detail }) => { detail.shouldSwap &&= inside(document.activeElement); });
  for (const type of ["htmx:responseError", "htmx:sendError"]) form.addEventListener(type, (event) => event.stopPropagation());
})();
