// Points of an SVG that a pointer or the arrow keys can move. Python draws the picture and computes every number;
// this module moves circles and tells Python where they are.
//
// Shared with Python: drawing (SVG text), value (list of [x, y]), frame (ranges of x and y, and the plot's box in
// the SVG's units), names (of the two axes).

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

function render({ model, el }) {
  el.innerHTML = model.get("drawing");
  const svg = el.querySelector("svg");
  const circles = [...svg.querySelectorAll("circle")];
  const { x, y, box } = model.get("frame");
  const size = [(x[1] - x[0]) / 100, (y[1] - y[0]) / 100]; // one press of an arrow key: a hundredth of the range

  function show() {
    model.get("value").forEach(([a, b], index) => {
      const circle = circles[index];
      circle.setAttribute("cx", box.left + ((a - x[0]) / (x[1] - x[0])) * (box.right - box.left));
      circle.setAttribute("cy", box.bottom - ((b - y[0]) / (y[1] - y[0])) * (box.bottom - box.top));
      const [first, second] = model.get("names");
      const place = `${first} ${a.toFixed(2)}, ${second} ${b.toFixed(2)}`;
      circle.setAttribute("aria-label", `point ${index + 1} of ${circles.length}: ${place}`);
    });
  }

  function move(index, a, b) {
    const points = model.get("value").map((point) => [...point]); // a new list, or nobody notices the change
    points[index] = [clamp(a, x), clamp(b, y)].map((value) => Number(value.toFixed(4)));
    model.set("value", points);
    model.save_changes();
  }

  function follow(event, index) {
    const here = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const a = x[0] + ((here.x - box.left) / (box.right - box.left)) * (x[1] - x[0]);
    const b = y[0] + ((box.bottom - here.y) / (box.bottom - box.top)) * (y[1] - y[0]);
    move(index, a, b);
  }

  svg.setAttribute("role", "group");
  svg.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab: arrow keys move the point, not the cell
  circles.forEach((circle, index) => {
    circle.setAttribute("tabindex", "0");
    circle.setAttribute("role", "button");
    circle.setAttribute("aria-roledescription", "movable point");
    circle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      circle.focus();
      circle.setPointerCapture(event.pointerId);
    });
    circle.addEventListener("pointermove", (event) => {
      if (circle.hasPointerCapture(event.pointerId)) follow(event, index);
    });
    circle.addEventListener("keydown", (event) => {
      if (!(event.key in ARROWS)) return;
      event.preventDefault();
      event.stopPropagation();
      const [right, up] = ARROWS[event.key].map((step) => step * (event.shiftKey ? 10 : 1));
      const [a, b] = model.get("value")[index];
      move(index, a + right * size[0], b + up * size[1]);
    });
  });
  model.on("change:value", show);
  show();
  return () => model.off("change:value", show);
}

export default { render };
