// @ts-check
// Lab 1 from prediction to transfer, with the mouse and by keyboard alone; every lab opens, sets the page and marks the prediction.

import { check, follow, must, redrawn, same } from "./harness.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Numbers that everybody sees without a seed: see docs/labs/01-limiter.md. */
const FIRST = { smooth: "49.2 %", right: "37.5 %", transfer: "62.5 %", wrong: "70 %" };

check("lab 1 from prediction to transfer", async ({ page, address, shot }) => {
  await page.goto(address);
  await page.getByText("Labs", { exact: true }).click();
  await follow(page, () => page.getByRole("link", { name: "Who is the limiter?" }).click());
  const card = page.locator(".card");
  same(await page.locator("fieldset:disabled").count(), 1, "locked controls");
  same(await page.locator("figure, #numbers td, #command").count(), 0, "what gives the answer away");
  must(await page.getByText("Predict first").first().isVisible(), "the lock is explained");
  const hint = card.getByRole("link", { name: /^Hint/ });
  for (let number = 1; number <= 3; number += 1) {
    await follow(page, () => hint.click());
    must(await card.getByText(`Hint ${number}:`).isVisible(), `hint ${number}`);
  }
  same(await hint.count(), 0, "further hints");
  must(!(await card.innerText()).includes("Transfer"), "the transfer is not yet seen");

  await page.locator("#guess").fill("much");
  await follow(page, () => card.getByRole("button", { name: "Commit" }).click());
  must((await card.getByRole("alert").innerText()).includes("much"), "what is no number is named");
  same(await page.locator("fieldset:disabled").count(), 1, "locked controls after no number");

  await page.locator("#guess").fill(FIRST.smooth);
  await follow(page, () => card.getByRole("button", { name: "Commit" }).click());
  must((await card.locator(".wrong").first().innerText()).includes("occupancy falls in steps"), "the mistake is known");
  same(await page.locator("fieldset:disabled").count(), 0, "locked fieldsets after a prediction");
  const open = await page.locator("#controls input[type=number]").evaluateAll((all) => all.map((one) => one.id));
  same(open.join(), "block,regs,smem", "open controls");

  await follow(page, () => card.getByRole("link", { name: "set the page to it" }).nth(1).click());
  must(page.url().includes("regs=65") && page.url().includes("tab=occupancy"), page.url());
  must((await page.locator("#panel .light svg").innerHTML()).length > 1000, "the staircases");
  must(await page.locator("#numbers").getByText("37.5 %").first().isVisible(), "the occupancy");
  await shot("lab-1-observe");
  await redrawn(page, () => page.locator("#regs").fill("64"));
  must(await page.locator("#numbers").getByText("50 %", { exact: true }).first().isVisible(), "50 % with 64 registers");
  must(page.url().includes("lab=1") && page.url().includes("guess="), "the lab stays");

  await card.getByText("Explain").click();
  must(await card.getByText("handed out per warp").isVisible(), "the derivation");
  await page.locator("#answer").fill(FIRST.wrong);
  await follow(page, () => card.getByRole("button", { name: "Check" }).click());
  must(await card.getByText("Think again").isVisible(), "a wrong transfer");
  await page.locator("#answer").fill(FIRST.transfer);
  await follow(page, () => card.getByRole("button", { name: "Check" }).click());
  must(await card.getByText("The lab is done").isVisible(), "done");
  must(await page.locator("select#gpu").isVisible(), "all controls are open then");
  await shot("lab-1-done");
  await follow(page, () => card.getByRole("link", { name: "Close the lab" }).click());
  same(await page.locator(".card").count(), 0, "cards after closing");
});

/** Presses Tab until the focus is where it should be. @param {Page} page @param {string} place */
async function tabTo(page, place) {
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, place)) return;
  }
  must(false, `Tab does not reach ${place}`);
}

check("lab 1 by keyboard alone", async ({ page, address }) => {
  await page.goto(`${address}/?lab=1`);
  await tabTo(page, "#guess");
  await page.keyboard.type(FIRST.right);
  await follow(page, () => page.keyboard.press("Enter"));
  await page.getByText("Right. Now see why.").waitFor();
  await tabTo(page, ".card li a");
  await follow(page, () => page.keyboard.press("Enter"));
  await tabTo(page, "#regs");
  await page.keyboard.press("Tab");
  await redrawn(page, () => page.keyboard.press("ArrowRight"));
  await tabTo(page, "#answer");
  await page.keyboard.type(FIRST.transfer);
  await follow(page, () => page.keyboard.press("Enter"));
  await page.getByText("The lab is done").waitFor();
});

/** A prediction in the unit of each lab; only what it looks like matters. */
const GUESSES = ["40 %", "1.5 ms", "1.3x", "300", "40 %", "2x", "7x", "50 GB", "2x"];

for (const [index, guess] of GUESSES.entries()) {
  const number = index + 1;
  check(`lab ${number} with its links`, async ({ page, address, shot }) => {
    await page.goto(`${address}/?lab=${number}`);
    await page.locator("#guess").fill(guess);
    await follow(page, () => page.locator(".card").getByRole("button", { name: "Commit" }).click());
    const links = page.locator(".card").getByRole("link", { name: "set the page to it" });
    const count = await links.count();
    must(count >= 2, `${count} links`);
    for (let link = 0; link < count; link += 1) {
      await follow(page, () => links.nth(link).click());
      must(await page.locator("figure svg:visible").count() === 1, `a chart behind link ${link + 1}`);
    }
    await shot(`lab-${number}`);
    const marked = await page.locator("#panel .light svg").innerHTML();
    must(marked.includes("your prediction") === [1, 2, 3, 6, 7, 8].includes(number), "the prediction is drawn where it is on the axes");
    return `${count} links`;
  });
}
