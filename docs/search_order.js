// How well a page answers a search: the chapter that teaches the word first, then titles and questions;
// solutions and lists last. Sphinx puts this in front of its searchtools.js and gives each result to `score`.
const taughtTerms = {/* filled in by nbdev_pages */};

function plainWords(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, , score, , kind]) => {
    if (kind === "object") return score;
    const asked = plainWords(new URLSearchParams(location.search).get("q") || "");
    const place = page.startsWith("solutions/") || page === "solutions" ? -40
      : /^(api|goals|bibliography|genindex|py-modindex)$/.test(page) ? -30
      : page === "architecture" || page === "glossary" ? -10
      : /^\d_/.test(page) ? 5 : 0;
    if (anchor || !asked) return score + place;
    const terms = (taughtTerms[page] || []).map(plainWords);
    const taught = terms.includes(asked) ? 60 : terms.some((term) => term.startsWith(asked)) ? 40 : 0;
    const named = plainWords(title).includes(asked) ? 30 : 0;
    return score + place + taught + named;
  },
};
