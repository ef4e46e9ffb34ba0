// Refreshes the parts of a page that are marked with data-live; without it the pages work, and stand still.
"use strict";

(() => {
  const pause = Number(document.body.dataset.refreshMs);
  const bar = document.querySelector(".top");
  const button = document.createElement("button");
  const status = document.createElement("span");
  let running = true;
  let timer = 0;

  // What the keyboard is on, so that it can be found in the new part: by id, or by where it leads and how often before.
  function place(element) {
    if (!element || !element.closest("[data-live]")) return null;
    if (element.id) return { id: element.id };
    const href = element.getAttribute("href");
    if (href === null) return null;
    const same = [...element.closest("[data-live]").querySelectorAll("[href]")].filter((one) => one.getAttribute("href") === href);
    return { part: element.closest("[data-live]").id, href, number: same.indexOf(element) };
  }

  function find(where) {
    if (where.id) return document.getElementById(where.id);
    const same = [...document.getElementById(where.part).querySelectorAll("[href]")].filter((one) => one.getAttribute("href") === where.href);
    return same[where.number] ?? same[0] ?? null;
  }

  function isSelecting(part) {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(part, true);
  }

  function show(page) {
    const [x, y] = [window.scrollX, window.scrollY];
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(part.id);
      // A text that somebody is copying stays.
      if (!fresh || fresh.innerHTML === part.innerHTML || isSelecting(part)) continue;
      const focus = part.contains(document.activeElement) ? place(document.activeElement) : null;
      part.replaceChildren(...document.importNode(fresh, true).childNodes);
      if (focus) find(focus)?.focus({ preventScroll: true });
    }
    window.scrollTo(x, y);
  }

  async function refresh() {
    try {
      const answer = await fetch(window.location.href, { credentials: "same-origin", cache: "no-store" });
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      status.textContent = "";
    } catch (error) {
      status.textContent = `Not refreshed: ${error.message}`;
    }
  }

  function later() {
    window.clearTimeout(timer);
    if (running) timer = window.setTimeout(async () => {
      if (!document.hidden) await refresh();
      later();
    }, pause);
  }

  button.type = "button";
  button.textContent = "Pause";
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    running = !running;
    button.setAttribute("aria-pressed", String(!running));
    if (running) refresh();
    later();
  });
  status.setAttribute("role", "status");
  status.className = "status";
  bar.querySelector(".clock").append(" ", button, " ", status);
  later();
})();
