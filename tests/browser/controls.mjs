// @ts-check
// Every page loads; every control moves; what it makes is in the address, and the address makes the same again.

import { check, must, redrawn, said, same, settled } from "./harness.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PAGES = [
  "/?op=gemm", "/?op=kernel&grid=4000", "/?op=simulate", "/?op=memory", "/?op=memory&phase=train", "/?op=memory&billions=7",
  "/?op=crossover", "/occupancy", "/occupancy?gfx=gfx942",
];

for (const path of PAGES) {
  check(`loads ${path}`, async ({ page, address, shot }) => {
    await page.goto(address + path);
    const { verdict, command } = await said(page);
    must(verdict.length > 20 && command.startsWith("wavecast "), `verdict ${verdict}, command ${command}`);
    must(await page.locator("figure svg:visible").count() === 1, "one chart is seen");
    await shot(`load${path.replaceAll(/[^a-z0-9]+/g, "-")}`);
  });

  check(`every control of ${path}`, async ({ page, address, refusals }) => {
    refusals();
    await page.goto(address + path);
    const ids = await page.locator("#controls input[type=number], #controls select").evaluateAll((all) => all.map((one) => one.id));
    must(ids.length >= 4, `only ${ids}`);
    for (const id of ids) await move(page, address + path, id);
    return `${ids.length} controls`;
  });
}

/** A control of a fresh page by every means it has. @param {Page} page @param {string} start @param {string} id */
async function move(page, start, id) {
  await page.goto(start);
  const control = page.locator(`#${id}`);
  const before = await said(page);
  if (await control.evaluate((one) => one instanceof HTMLSelectElement)) {
    const values = await control.locator("option:not(:checked)").evaluateAll((all) => all.map((one) => /** @type {HTMLOptionElement} */ (one).value));
    must(values.length > 0, `${id} has one option`);
    await control.selectOption(values[0]);
  } else {
    const slider = page.locator(`input[data-for=${id}]`);
    const place = Number(await slider.inputValue());
    await redrawn(page, async () => {
      await slider.focus();
      for (let step = 0; step < 40; step += 1) await page.keyboard.press(place > 500 ? "ArrowLeft" : "ArrowRight");
    });
    await redrawn(page, () => slider.fill(String(place > 500 ? 250 : 750)));
    const { value } = await slider.evaluate((one) => ({ value: one.getAttribute("aria-valuetext") }));
    same(value, await control.inputValue(), `the slider of ${id} says its value`);
  }
  await answered(page, before.url, id);
  await deep(page, start);
}

/** The address has changed, or a refusal is shown in words. @param {Page} page @param {string} url @param {string} id */
async function answered(page, url, id) {
  await page.waitForFunction(
    (old) => location.href !== old || document.querySelector("#verdict .refused"), url, { timeout: 10_000 },
  ).catch(() => must(false, `${id} changes neither address nor verdict`));
  await page.waitForLoadState();
  await settled(page);
}

/** The address of the page shows the same elsewhere. @param {Page} page @param {string} start */
async function deep(page, start) {
  if ((await page.locator("#verdict .refused").count()) > 0) {
    must((await page.locator("#verdict .refused").innerText()).includes(": "), "a refusal has a reason");
    return;
  }
  const here = await said(page);
  const other = await page.context().newPage();
  await other.goto(page.url());
  const there = await said(other);
  await other.close();
  same(there.verdict, here.verdict, `verdict of ${page.url()} from ${start}`);
  same(there.numbers, here.numbers, `numbers of ${page.url()}`);
  same(there.command, here.command, `command of ${page.url()}`);
}

check("a number typed in, and one that is refused", async ({ page, address, refusals }) => {
  refusals();
  await page.goto(`${address}/?op=gemm`);
  await redrawn(page, () => page.locator("#m").fill("512"));
  must(page.url().includes("m=512"), page.url());
  const before = await said(page);
  await redrawn(page, () => page.locator("#m").fill("0"));
  const refused = await page.locator("#verdict").innerText();
  must(refused.includes("m = 0") && refused.includes("from 1 to"), refused);
  same((await said(page)).numbers, before.numbers, "the numbers stay");
  await redrawn(page, () => page.locator("#m").fill("513"));
  must((await said(page)).verdict.includes("513x4096x4096"), "the page recovers");
});

check("sixty moves of a slider at 25 ms", async ({ page, address }) => {
  const lines = [];
  for (const [path, id] of [["/?op=gemm", "n"], ["/?op=kernel&grid=4000&tab=occupancy", "regs"], ["/?op=gemm&tab=waves", "m"], ["/occupancy", "threads"]]) {
    await page.goto(address + path);
    const slider = page.locator(`input[data-for=${id}]`);
    const times = await slider.evaluate(async (one) => {
      const input = /** @type {HTMLInputElement} */ (one);
      /** @type {number[]} */
      const found = [];
      const seen = new MutationObserver(() => found.push(Number(document.body.dataset.ms)));
      seen.observe(document.body, { attributes: true, attributeFilter: ["data-redraws"] });
      for (let step = 0; step < 60; step += 1) {
        input.value = String(200 + 10 * step);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, 25));
      }
      await new Promise((done) => setTimeout(done, 1000));
      return found.sort((a, b) => a - b);
    });
    must(times.length >= 10, `${path}: ${times.length} redraws`);
    const at = (/** @type {number} */ share) => times[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(0);
    lines.push(`${path} ${times.length} redraws, median ${at(0.5)} ms, 95 % ${at(0.95)} ms`);
  }
  return lines.join("; ");
});
