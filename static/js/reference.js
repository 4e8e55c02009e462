// What htmx leaves open on the reference page: where a step of the history ends, and what a failed request shows.
(() => {
  // Whether the last step was a search, letter by letter. Only then may the next letter take that step's place.
  let typing = false;

  document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
    const isNew = detail.history.path !== location.pathname + location.search;
    if (isNew && !typing) detail.history.type = "push";
    typing = detail.requestConfig.triggeringEvent?.type === "input";
  });

  // A button that leads to another page is the browser's: htmx would put that page in here.
  document.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) event.stopPropagation();
  }, true);

  // The boxes already say what was asked for, and the list does not: let the browser ask, and show what comes.
  document.addEventListener("htmx:responseError", ({ detail: { elt } }) => elt.href ? location.assign(elt.href) : elt.submit());
  document.addEventListener("htmx:sendError", () => {
    document.getElementById("count").textContent = "No answer. Press Search to ask again.";
  });
})();
