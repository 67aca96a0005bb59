// The page "Try it": Python, by Pyodide, and the package's own files, from this site. Whatever a reader typed comes
// back as text and is put in as text.
import { calls, load as loadModels } from "./try_steps.js";

const forms = [...document.querySelectorAll("form.try")];
const place = (name) => new URL(name, import.meta.url);
let python = null; // one for all forms, loaded when it is first asked for
let models = null; // for the five steps

function say(text) {
  for (const form of forms) form.querySelector(".try-state").textContent = text;
}

async function load() {
  say("Loading Python (14 MB, once)…");
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) {  // Pyodide itself waits for a lost one without a word
    const found = await fetch(place(`pyodide/${name}`), { method: "HEAD" });
    if (!found.ok) throw new Error(`${name} could not be loaded (${found.status})`);
  }
  const { loadPyodide } = await import(place("pyodide/pyodide.mjs").href);
  const loaded = await loadPyodide({ indexURL: place("pyodide/").href });
  say("Unpacking the package…");
  const files = await fetch(place("try_in_browser.zip"));
  if (!files.ok) throw new Error(`the package's files could not be loaded (${files.status})`);
  loaded.unpackArchive(await files.arrayBuffer(), "zip");
  say("Importing it…");
  loaded.pyimport("try_in_browser");
  say("");
  return loaded;
}

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

function draw(block, parent) {
  if (block.kind === "table") {
    const table = element("table", "", parent);
    element("caption", block.caption, table);
    const head = element("tr", "", element("thead", "", table));
    for (const name of block.columns) element("th", name, head).scope = "col";
    const body = element("tbody", "", table);
    for (const row of block.rows) {
      const line = element("tr", "", body);
      for (const cell of row) {
        const [text, background, color] = [cell].flat();
        Object.assign(element("td", text, line).style, { background, color });
      }
    }
  } else if (block.kind === "marks") {
    const figure = element("figure", "", parent);
    element("figcaption", block.caption, figure);
    for (const [label, pieces] of block.texts) {
      const line = element("p", "", figure);
      element("b", label, line);
      line.append(" ");
      for (const [text, color, title] of pieces) {
        if (!color) {
          line.append(text);
          continue;
        }
        const mark = element("mark", text, line);
        mark.style.background = color;
        mark.style.color = "#1a1a1a";
        mark.title = title;
      }
    }
  } else {
    element("p", block.text, parent).className = `try-${block.kind}`;
  }
}

async function compute(form, loaded) {
  const given = {};
  for (const field of form.querySelectorAll("[name]")) {
    given[field.name] = field.type === "checkbox" ? field.checked : field.value;
  }
  const show = (blocks) => {
    const made = document.createDocumentFragment();
    for (const block of JSON.parse(blocks)) draw(block, made);
    form.querySelector(".try-result").replaceChildren(made);
  };
  if (form.dataset.form !== "steps") {
    show(loaded.pyimport("try_in_browser").answer(form.dataset.form, JSON.stringify(given)));
    return;
  }
  const { embed, read } = calls(await models, say);
  show(await loaded.pyimport("try_steps").answer(JSON.stringify(given), embed, read, show));
  say("");
}

async function ready(form) {
  if (form.dataset.busy) return; // a second press, while the first one is answered
  form.dataset.busy = "yes";
  if (form.dataset.form === "steps") (models ??= loadModels(say)).catch(() => {}); // beside Python; awaited after it
  python ??= load();
  try {
    const loaded = await python;
    await compute(form, loaded);
    for (const one of forms) {
      if (one === form || one.dataset.form !== "steps") one.querySelector("button").textContent = "Compute";
    }
    form.dataset.ready = "yes";
  } catch (error) {
    python = models = null; // the next press tries again
    say(`It could not be started here: ${error.message}`);
  } finally {
    delete form.dataset.busy;
  }
}

for (const form of forms) {
  for (const field of form.querySelectorAll("[name]")) {
    field.readOnly = false;
    field.disabled = false;
  }
  form.querySelector(".try-asleep").remove();
  form.querySelector("button").hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ready(form);
  });
  let waiting = 0;
  form.addEventListener("input", () => {
    if (!python || form.dataset.form === "steps") return; // 14 MB are loaded by a press, not by a key
    clearTimeout(waiting);
    waiting = setTimeout(() => ready(form), 200);
  });
}
