// Lists what a reader of each frame would not see: text beyond the page, beyond its picture, or in
// a part that needs scrolling.
function cutOff(frame) {
  const page = frame.contentDocument, width = page.documentElement.clientWidth, found = [];
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  const name = (one) => `${frame.title}: <${one.tagName.toLowerCase()}> ${one.textContent.trim().slice(0, 60)}`;
  for (const one of page.querySelectorAll("text, th, td, p, li, dd, dt, h1, h2, h3, figcaption, a, span, pre")) {
    const box = one.getBoundingClientRect();
    if (box.width === 0) continue;
    const within = one.closest("svg")?.getBoundingClientRect() ?? { left: 0, right: width };
    if (box.left < within.left - 1 || box.right > within.right + 1) found.push(name(one));
  }
  for (const one of page.querySelectorAll(".wide, pre, body")) {
    if (one.scrollWidth > one.clientWidth + 1) found.push(`${name(one)} is wider than its place`);
  }
  return found;
}
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].flatMap(cutOff);
  document.body.innerHTML = "";
  const said = document.createElement("pre");
  said.textContent = `checked\n${found.join("\n")}\n`;
  document.body.append(said);
});
