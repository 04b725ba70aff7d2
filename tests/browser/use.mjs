// @ts-check
// Tabs, pins, downloads, copying, history, a page without script.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { check, follow, must, redrawn, said, same } from "./harness.mjs";

check("every tab by mouse and by arrow keys", async ({ page, address, shot }) => {
  await page.goto(`${address}/?op=gemm&m=2304&n=1537&k=4096&gpu=a100-sxm4-80gb`);
  const tabs = await page.getByRole("tab").allInnerTexts();
  for (const tab of tabs) {
    await redrawn(page, () => page.getByRole("tab", { name: tab, exact: true }).click());
    same(await page.getByRole("tab", { selected: true }).innerText(), tab, "the tab");
    must(await page.locator("#panel figure svg:visible").count() === 1, `a chart under ${tab}`);
    await shot(`tab-${tab.toLowerCase()}`);
  }
  for (const [key, wanted] of [["ArrowRight", tabs[0]], ["ArrowLeft", tabs[tabs.length - 1]], ["Home", tabs[0]], ["End", tabs[tabs.length - 1]]]) {
    await page.getByRole("tab", { selected: true }).focus();
    await redrawn(page, () => page.keyboard.press(key));
    same(await page.evaluate(() => document.activeElement?.textContent), wanted, `the focus after ${key}`);
    same(await page.getByRole("tab", { selected: true }).innerText(), wanted, `the tab after ${key}`);
  }
  return tabs.join(", ");
});

check("a pinned state is a ghost", async ({ page, address, shot }) => {
  await page.goto(`${address}/?op=kernel&grid=4000&block=256&regs=32&flop=64`);
  const start = await said(page);
  await follow(page, () => page.getByRole("link", { name: "Pin to compare" }).click());
  await redrawn(page, () => page.locator("#flop").fill("1024"));
  must(await page.locator("#numbers td.pinned").count() > 5, "numbers of the pinned state");
  must((await page.locator("#panel .light svg").innerHTML()).includes("pinned"), "the ghost in the chart");
  await shot("pinned");
  for (const tab of ["Time", "Waves", "Timeline", "Occupancy"]) {
    await redrawn(page, () => page.getByRole("tab", { name: tab, exact: true }).click());
    await shot(`pinned-${tab.toLowerCase()}`);
  }
  await follow(page, () => page.getByRole("link", { name: "Back to the pinned" }).click());
  same((await said(page)).numbers, start.numbers, "the numbers of the pinned state");
  await page.goBack();
  await page.waitForLoadState();
  await follow(page, () => page.getByRole("link", { name: "Unpin" }).click());
  same(await page.locator("#numbers td.pinned").count(), 0, "pinned numbers");
});

check("downloads are what they say", async ({ page, address }) => {
  for (const path of ["/?op=gemm&m=512", "/occupancy"]) {
    await page.goto(address + path);
    for (const [name, begin] of [["SVG", "<"], ["PNG", "\x89PNG"], ["CSV", ""]]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
      const text = readFileSync(await download.path(), "latin1");
      must(text.startsWith(begin) && text.length > 100, `${path} ${name}: ${text.slice(0, 40)}`);
      must(download.suggestedFilename().endsWith(name.toLowerCase()), download.suggestedFilename());
    }
  }
});

/** The words of a command line as a shell splits them. @param {string} line */
function words(line) {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((found) => found[1] ?? found[2]);
}

check("the copied command says the same", async ({ page, address, binary }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const path of ["/?op=gemm&m=640&bw=2.5", "/?op=kernel&grid=4000", "/?op=simulate&blocks=200", "/?op=memory", "/?op=crossover", "/occupancy?cc=8.6&regs=65"]) {
    await page.goto(address + path);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const line = await page.evaluate(() => navigator.clipboard.readText());
    same(line, await page.locator("#command").innerText(), "the clipboard");
    const [program, ...rest] = words(line);
    same(program, "wavecast", "the program");
    const answer = execFileSync(binary, rest, { encoding: "utf8" });
    const first = await page.locator("#numbers td").first().innerText();
    // The other two print the same numbers in other words.
    must(["/occupancy", "/?op=memory"].some((other) => path.startsWith(other)) || answer.replaceAll(/\s+/g, " ").includes(first), `${line} does not print ${first}: ${answer}`);
  }
});

check("the back button and a reload", async ({ page, address }) => {
  await page.goto(`${address}/?op=gemm&m=512`);
  await redrawn(page, () => page.getByRole("tab", { name: "Time", exact: true }).click());
  await redrawn(page, () => page.getByRole("tab", { name: "Waves" }).click());
  await page.goBack();
  await page.waitForURL(/tab=time/);
  await page.waitForFunction(() => document.querySelector("[role=tab][aria-selected=true]")?.textContent === "Time");
  await redrawn(page, () => page.locator("#m").fill("768"));
  await page.reload();
  same(await page.locator("#m").inputValue(), "768", "m after a reload");
  must((await said(page)).verdict.includes("768x"), "the answer after a reload");
});

check("another kind of GPU, network and operation brings its controls", async ({ page, address }) => {
  await page.goto(`${address}/occupancy`);
  await follow(page, () => page.locator("#on").selectOption("gfx942"));
  await page.locator("#agprs").waitFor();
  await page.goto(`${address}/?op=memory`);
  await follow(page, () => page.locator("#phase").selectOption("train"));
  await page.locator("#zero").waitFor();
  await follow(page, () => page.locator("#net").selectOption("none"));
  await page.locator("#billions").waitFor();
  await follow(page, () => page.locator("#net").selectOption("llama-2-7b"));
  await page.locator("#seq").waitFor();
  must((await said(page)).verdict.toLowerCase().includes("llama-2-7b"), "the network");
  await page.goto(`${address}/?op=crossover`);
  await follow(page, () => page.locator("#kind").selectOption("gemm"));
  await page.waitForURL(/kind=gemm/);
  must((await said(page)).verdict.includes("gemm"), "the operation");
  await page.goto(`${address}/?op=gemm&mig=1g.10gb`);
  await redrawn(page, () => page.locator("#gpu").selectOption("l40s"));
  same(await page.locator("#mig").count(), 0, "slices of a GPU without MIG");
});

check("the form works without script", async ({ page, address }) => {
  await page.goto(`${address}/?op=gemm`);
  await page.locator("#m").fill("512");
  await follow(page, () => page.getByRole("button", { name: "Show" }).click());
  await page.waitForURL(/m=512/);
  must((await said(page)).verdict.includes("512x"), "the answer");
  must(!(await page.locator("input[type=range]").first().isVisible()), "sliders need the script");
  await follow(page, () => page.getByRole("tab", { name: "Waves" }).click());
  must(page.url().includes("tab=waves") && page.url().includes("m=512"), page.url());
}, { javaScriptEnabled: false });
