// @ts-check
// node picture.mjs ADDRESS CHROMIUM FILE: the picture of the README, a product beside a pinned one.

import { chromium } from "playwright-core";

const [address, executablePath, file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node picture.mjs ADDRESS CHROMIUM FILE");
  process.exit(2);
}
const pinned = encodeURIComponent("op=gemm&gpu=h100-sxm5-80gb&m=64&n=8192&k=8192&dtype=bf16&tab=roofline");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(`${address.replace(/\/$/, "")}/?op=gemm&gpu=h100-sxm5-80gb&m=512&n=8192&k=8192&dtype=bf16&tab=roofline&pin=${pinned}`);
await page.evaluate(() => document.fonts.ready);
await page.screenshot({ path: file });
await browser.close();
