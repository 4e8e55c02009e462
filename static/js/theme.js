// The reader's choice of colours, before anything is painted, and its buttons. The admin keeps it in the same place.
(() => {
  const { dataset } = document.documentElement;
  const metas = [...document.querySelectorAll("meta[name=theme-color]")];
  const papers = metas.map((meta) => meta.content);

  const show = (theme) => {
    const place = ["light", "dark"].indexOf(theme);
    dataset.theme = papers[place] ? theme : "auto";
    metas.forEach((meta, own) => { meta.content = papers[place] ?? papers[own]; });
    document.querySelectorAll(".theme button").forEach((it) => { it.ariaPressed = it.value === dataset.theme; });
  };
  const read = () => {
    try { show(localStorage.theme); } catch { show(dataset.theme); }
  };

  read();
  for (const event of ["DOMContentLoaded", "pageshow", "storage"]) addEventListener(event, read);
  addEventListener("click", ({ target }) => {
    if (!target.matches(".theme button")) return;
    show(target.value);
    try { localStorage.theme = target.value; } catch { /* without storage the choice holds for this page */ }
  });
})();
