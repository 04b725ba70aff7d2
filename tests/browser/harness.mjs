// @ts-check
// Checks, each in a browser context of its own, whose page may log no error, fail no request and ask no other host.

import { join } from "node:path";
import { chromium } from "playwright-core";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{page: Page, address: string, binary: string, shot: (name: string) => Promise<void>, refusals: () => void}} Tools */

/** Options of Chromium: no profile, no traffic of its own. */
const ARGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** @type {{name: string, context: import("playwright-core").BrowserContextOptions, body: (tools: Tools) => Promise<string | void>}[]} */
const checks = [];

/**
 * Adds a check; what its body returns is printed behind its name.
 * @param {string} name @param {(tools: Tools) => Promise<string | void>} body
 * @param {import("playwright-core").BrowserContextOptions} context
 */
export function check(name, body, context = {}) {
  checks.push({ name, context, body });
}

/** @param {unknown} holds @param {string} says what is wrong otherwise */
export function must(holds, says) {
  if (!holds) throw new Error(says);
}

/** @param {unknown} found @param {unknown} wanted @param {string} what */
export function same(found, wanted, what) {
  must(found === wanted, `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

/**
 * Runs every check whose name contains `only`.
 * @param {{address: string, chromium: string, binary: string, shots: string, only: string}} options
 * @returns {Promise<number>} how many failed
 */
export async function runAll({ address, chromium: executablePath, binary, shots, only }) {
  const browser = await chromium.launch({ executablePath, args: ARGS });
  let failed = 0;
  for (const { name, context, body } of checks.filter((one) => one.name.includes(only))) {
    const opened = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
    opened.setDefaultTimeout(15_000);
    const page = await opened.newPage();
    /** @type {string[]} */
    const faults = [];
    let refusals = false;
    page.on("console", (message) => {
      const refused = refusals && message.text().includes("status of 400");
      if (message.type() === "error" && !refused) faults.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("requestfailed", (request) => {
      // A page that is left takes its requests with it.
      const why = request.failure()?.errorText ?? "";
      if (why !== "net::ERR_ABORTED") faults.push(`request: ${request.url()} ${why}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(address) && !request.url().startsWith("data:")) faults.push(`other host: ${request.url()}`);
    });
    const shot = async (/** @type {string} */ file) => {
      await page.screenshot({ path: join(shots, `${file}.png`), fullPage: true });
    };
    try {
      const said = await body({ page, address, binary, shot, refusals: () => (refusals = true) });
      must(faults.length === 0, faults.join("; "));
      console.log(`ok ${name}${said ? `: ${said}` : ""}`);
    } catch (error) {
      failed += 1;
      const message = error instanceof Error ? error.message : String(error);
      console.log(`not ok ${name}: ${message.replaceAll("\n", " | ")}`);
      await shot(`failed-${failed}`).catch(() => {});
    }
    await opened.close();
  }
  await browser.close();
  return failed;
}

/** The address has changed and its answer has been drawn. @param {Page} page @param {() => Promise<unknown>} change */
export async function redrawn(page, change) {
  const before = await page.evaluate(() => Number(document.body.dataset.redraws ?? 0));
  await change();
  await page.waitForFunction((count) => Number(document.body.dataset.redraws ?? 0) > count, before);
  await settled(page);
}

/** Nothing that was asked for is on its way. @param {Page} page */
export async function settled(page) {
  await page.waitForFunction(() => document.body.dataset.busy === undefined);
}

/** What the page says. @param {Page} page */
export async function said(page) {
  const [verdict, numbers, command] = await Promise.all(["#verdict", "#numbers", "#command"].map((place) => page.locator(place).innerText()));
  return { verdict, numbers, command, url: page.url() };
}
