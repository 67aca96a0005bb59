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
