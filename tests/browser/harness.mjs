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
 * One try of a check in a context of its own: what is wrong, and what it says behind its name.
 * @param {import("playwright-core").Browser} browser @param {(typeof checks)[number]} one
 * @param {{address: string, binary: string, shots: string}} options
 * @returns {Promise<{wrong: string, said: string}>}
 */
async function tried(browser, { name, context, body }, { address, binary, shots }) {
  const opened = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
  opened.setDefaultTimeout(30_000);
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
  let [wrong, said] = ["", ""];
  try {
    said = (await body({ page, address, binary, shot, refusals: () => (refusals = true) })) ?? "";
    wrong = faults.join("; ");
  } catch (error) {
    wrong = (error instanceof Error ? error.message : String(error)).replaceAll("\n", " | ");
    await shot(`failed-${name.replaceAll(/[^a-z0-9]+/gi, "-")}`).catch(() => {});
  }
  await opened.close();
  return { wrong, said };
}

/**
 * Runs every check whose name contains `only`; one that fails is tried once more, since a busy machine may be late, and says so.
 * @param {{address: string, chromium: string, binary: string, shots: string, only: string}} options
 * @returns {Promise<number>} how many failed
 */
export async function runAll(options) {
  const browser = await chromium.launch({ executablePath: options.chromium, args: ARGS });
  let failed = 0;
  for (const one of checks.filter((one) => one.name.includes(options.only))) {
    const first = await tried(browser, one, options);
    const { wrong, said } = first.wrong ? await tried(browser, one, options) : first;
    if (wrong) failed += 1;
    const again = first.wrong && !wrong ? ` (at the second try; at the first ${first.wrong})` : "";
    console.log(wrong ? `not ok ${one.name}: ${wrong}` : `ok ${one.name}${said ? `: ${said}` : ""}${again}`);
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

/** What leads to another page has led there. @param {Page} page @param {() => Promise<unknown>} action */
export async function follow(page, action) {
  await Promise.all([page.waitForEvent("load"), action()]);
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
