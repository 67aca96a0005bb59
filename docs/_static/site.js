// A link to an entry inside a closed "Reference" box opens the box.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const closed = target && target.closest("details:not([open])");
  if (closed) {
    closed.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
addEventListener("DOMContentLoaded", openTarget);

// Paper is white: a page read in dark mode is printed in light mode.
let chosen = null;
matchMedia("print").addEventListener("change", (paper) => {
  const page = document.documentElement;
  if (paper.matches) {
    chosen = page.dataset.theme;
    page.dataset.theme = "light";
  } else if (chosen) {
    page.dataset.theme = chosen;
  }
});

// The arrows that open a list of pages in the sidebar have no text: a screen reader needs a name.
addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("nav.bd-links summary")) {
    const page = arrow.closest("li").querySelector("a");
    arrow.setAttribute("aria-label", `Pages below ${page.textContent.trim()}`);
  }
});

// A search result shows words of its page, not of the theme's menu ("System Settings Light Dark").
addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const whole = Search.htmlToText;
  Search.htmlToText = (text, anchor) => {
    const article = new DOMParser().parseFromString(text, "text/html").querySelector("article.bd-article");
    if (!article) return whole(text, anchor);
    for (const button of article.querySelectorAll(".headerlink, .dropdown-menu, script, style")) button.remove();
    return whole(`<div role="main">${article.innerHTML}</div>`, anchor);
  };
});
