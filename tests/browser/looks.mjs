// @ts-check
// Dark mode, contrast, a narrow screen, reduced motion, names for screen readers.

import { check, must, same } from "./harness.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PAGES = ["/?op=gemm", "/?op=memory", "/?lab=1&guess=49.2%25&op=kernel&tab=occupancy", "/?op=gemm&m=0", "/occupancy"];

/** Places whose text has less than 4.5:1 against what is behind it. @param {Page} page */
async function faint(page) {
  return page.evaluate(() => {
    const parse = (/** @type {string} */ text) => (text.match(/[\d.]+/g) ?? []).map(Number);
    const light = (/** @type {number[]} */ [r, g, b]) => {
      const linear = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const behind = (/** @type {Element | null} */ place) => {
      for (; place; place = place.parentElement) {
        const colour = parse(getComputedStyle(place).backgroundColor);
        if (colour.length === 3 || colour[3] > 0.99) return colour;
      }
      return [255, 255, 255];
    };
    const found = [];
    for (const place of document.querySelectorAll("body *:not(svg *)")) {
      const own = [...place.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
      if (!own || !(place instanceof HTMLElement) || !place.checkVisibility() || place.closest("fieldset:disabled")) continue;
      const [one, two] = [light(parse(getComputedStyle(place).color)), light(behind(place))].sort((a, b) => b - a);
      const ratio = (one + 0.05) / (two + 0.05);
      if (ratio < 4.5) found.push(`${place.tagName} "${place.textContent?.trim().slice(0, 30)}" ${ratio.toFixed(1)}`);
    }
    return found;
  });
}

for (const scheme of /** @type {const} */ (["light", "dark"])) {
  check(`${scheme} mode`, async ({ page, address, shot, refusals }) => {
    refusals();
    for (const [index, path] of PAGES.entries()) {
      await page.goto(address + path);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      same(ground, scheme === "dark" ? "rgb(24, 26, 31)" : "rgb(255, 255, 255)", "the background");
      const charts = await page.locator("figure svg").count();
      if (charts > 0) {
        must(await page.locator(`figure .${scheme} svg`).isVisible(), `the ${scheme} chart`);
        same(await page.locator("figure svg:visible").count(), 1, "charts that are seen");
      }
      const weak = await faint(page);
      must(weak.length === 0, `${path}: ${weak.join("; ")}`);
      await shot(`${scheme}-${index}`);
    }
  }, { colorScheme: scheme });
}

check("360 pixels wide", async ({ page, address, shot }) => {
  for (const [index, path] of ["/?op=gemm", "/?op=crossover", "/?lab=1&guess=49.2%25&op=kernel&tab=occupancy", "/occupancy"].entries()) {
    await page.goto(address + path);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    must(wide <= 360, `${path} is ${wide} pixels wide`);
    const small = await page.evaluate(() => {
      const places = [...document.querySelectorAll("#controls input:not([type=hidden]), #controls select, button, a.button, [role=tab]")];
      const seen = places.filter((place) => place instanceof HTMLElement && place.checkVisibility());
      const bad = seen.map((place) => ({ place, box: place.getBoundingClientRect() }));
      return bad.filter(({ box }) => box.height < 22 || box.left < 0 || box.right > 360.5)
        .map(({ place, box }) => `${place.id || place.textContent} ${box.left.toFixed(0)}..${box.right.toFixed(0)} x ${box.height.toFixed(0)}`);
    });
    must(small.length === 0, `${path}: ${small.join("; ")}`);
    await shot(`narrow-${index}`);
  }
}, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });

check("nothing moves for who wants no motion", async ({ page, address }) => {
  await page.goto(`${address}/?op=gemm`);
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((place) => {
    const style = getComputedStyle(place);
    return style.transitionDuration !== "0s" || style.animationName !== "none";
  }).length);
  same(moving, 0, "elements with transitions");
}, { reducedMotion: "reduce" });

check("names for screen readers", async ({ page, address }) => {
  for (const path of ["/?op=gemm", "/?op=kernel&lab=1&guess=1%25", "/?op=memory&phase=train", "/?op=crossover", "/?op=simulate", "/occupancy"]) {
    await page.goto(address + path);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("input:not([type=hidden]), select, button")].filter((place) => {
      const control = /** @type {HTMLInputElement} */ (place);
      const named = control.getAttribute("aria-label") || control.labels?.length || control.textContent?.trim();
      return control.checkVisibility() && !named;
    }).map((place) => place.outerHTML));
    same(nameless.join(), "", `${path}: controls without a name`);
    for (const role of /** @type {const} */ (["banner", "main", "complementary", "contentinfo", "navigation", "status"])) {
      must(await page.getByRole(role).count() >= 1, `${path} has no ${role}`);
    }
    same(await page.locator("h1").count(), 1, "h1");
    const chart = page.locator("figure .light svg");
    same(await chart.getAttribute("role"), "img", "the role of the chart");
    must((await chart.locator("title").first().textContent() ?? "").length > 3, "the title of the chart");
    must((await chart.locator("desc").first().textContent() ?? "").length > 20, "the description of the chart");
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll("[id]")].map((place) => place.id);
      return ids.filter((id, place) => ids.indexOf(id) !== place);
    });
    same(twice.join(), "", `${path}: ids that stand twice`);
  }
});
