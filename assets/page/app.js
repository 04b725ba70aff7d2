// @ts-check
// A change of a control asks for the parts of the page that follow from it. At most one request is on its way; of the states wanted
// meanwhile only the newest is asked for. Without this script the form works as a form.

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("#controls"));
let busy = false;
/** @type {{push: boolean, start: number} | null} */
let wanted = null;

/** The query of all controls that hold something. */
function query() {
  const pairs = [...new FormData(/** @type {HTMLFormElement} */ (form))].filter(([, value]) => value !== "");
  return new URLSearchParams(/** @type {any} */ (pairs)).toString();
}

/** @param {boolean} push whether the back button should lead here */
async function update(push) {
  wanted = { push: push || (wanted?.push ?? false), start: performance.now() };
  if (busy || !form || form.querySelector("fieldset:disabled")) return;
  busy = true;
  document.body.dataset.busy = "";
  while (wanted) {
    const now = wanted;
    wanted = null;
    try {
      const reply = await fetch(`${form.dataset.part}?${query()}`);
      show(await reply.text(), now.push);
      document.body.dataset.ms = (performance.now() - now.start).toFixed(1);
      document.body.dataset.redraws = String(Number(document.body.dataset.redraws ?? 0) + 1);
    } catch {
      const place = document.querySelector("#verdict");
      if (place) place.textContent = "The program does not answer: is it still running?";
    }
  }
  busy = false;
  delete document.body.dataset.busy;
}

/** @param {string} text @param {boolean} push */
function show(text, push) {
  const root = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
  if (!(root instanceof HTMLElement)) return;
  const focus = document.activeElement?.id;
  for (const part of root.querySelectorAll("[data-into]")) {
    const place = document.getElementById(/** @type {HTMLElement} */ (part).dataset.into ?? "");
    // What the reader is typing in stays.
    const typing = place?.contains(document.activeElement) && document.activeElement?.matches("input, select");
    if (place && !typing && place.innerHTML !== part.innerHTML) place.replaceChildren(...part.childNodes);
  }
  if (focus && document.activeElement?.id !== focus) document.getElementById(focus)?.focus();
  document.querySelectorAll("[data-copy]").forEach((button) => button.removeAttribute("hidden"));
  const address = root.dataset.query;
  if (address === undefined) return;
  document.title = `${root.dataset.title} - Wavecast`;
  history[push ? "pushState" : "replaceState"](null, "", `${location.pathname}?${address}`);
}

/** The slider of a number, and what its thousand steps stand for. @param {HTMLInputElement} slider */
function link(slider) {
  const box = /** @type {HTMLInputElement} */ (document.getElementById(slider.dataset.for ?? ""));
  const [least, most, step] = ["least", "most", "step"].map((key) => Number(slider.dataset[key]));
  const log = slider.dataset.log !== undefined;
  const place = () => {
    const value = Number(box.value || (log ? Math.sqrt(least * most) : (least + most) / 2));
    slider.value = String(1000 * (log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least)));
    slider.setAttribute("aria-valuetext", box.value || "as the GPU is");
  };
  slider.hidden = false;
  place();
  box.addEventListener("input", place);
  slider.addEventListener("input", () => {
    const share = Number(slider.value) / 1000;
    const exact = log ? least * (most / least) ** share : least + (most - least) * share;
    // Large numbers move in steps that a person would take.
    const fine = log && exact > 64 * step ? step * 2 ** Math.max(0, Math.floor(Math.log2(exact / step)) - 5) : step;
    const value = Math.min(most, Math.max(least, Math.round(exact / fine) * fine));
    box.value = String(Number(value.toFixed(6)));
    slider.setAttribute("aria-valuetext", box.value);
  });
}

if (form) {
  document.body.classList.add("script");
  form.querySelectorAll("input[type=range]").forEach((slider) => link(/** @type {HTMLInputElement} */ (slider)));
  document.querySelectorAll("[data-copy]").forEach((button) => button.removeAttribute("hidden"));
  form.addEventListener("input", (event) => {
    const control = /** @type {HTMLInputElement} */ (event.target);
    if (control.id === "gpu") form.querySelectorAll("#mig").forEach((slice) => slice.remove());
    // Another operation has other sizes.
    const size = document.getElementById("n");
    if (control.id === "kind" && size instanceof HTMLInputElement) size.value = "";
    // Another kind of device, network or operation has other controls.
    const layers = control.id === "net" && (control.value === "none") === !document.getElementById("billions");
    if (control.id === "on" || control.id === "phase" || control.id === "kind" || layers) form.submit();
    else void update(false);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void update(true);
  });
}

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const tab = /** @type {HTMLElement | null} */ (target.closest("a[data-tab]"));
  const field = /** @type {HTMLInputElement | null} */ (form?.querySelector("input[name=tab]"));
  if (tab && field && !form?.querySelector("fieldset:disabled")) {
    event.preventDefault();
    field.value = tab.dataset.tab ?? "";
    tab.focus();
    void update(true);
  }
  const copy = /** @type {HTMLElement | null} */ (target.closest("[data-copy]"));
  if (copy) {
    const text = document.getElementById(copy.dataset.copy ?? "")?.textContent ?? "";
    void navigator.clipboard.writeText(text).then(() => (copy.textContent = "Copied"));
  }
});

document.addEventListener("keydown", (event) => {
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tab]")]);
  const place = tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const steps = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 };
  const to = /** @type {Record<string, number>} */ (steps)[event.key];
  if (place < 0 || to === undefined) return;
  event.preventDefault();
  tabs[(to + tabs.length) % tabs.length].click();
});

// The controls belong to the address as much as the answer does.
addEventListener("popstate", () => location.reload());
