// @ts-check
// node run.mjs ADDRESS CHROMIUM BINARY FOLDER [NAME]: checks the page at ADDRESS, with pictures in FOLDER; with NAME only the checks
// whose names contain it. BINARY is the program, for the commands that the page shows.

import { runAll } from "./harness.mjs";
import "./controls.mjs";
import "./labs.mjs";
import "./looks.mjs";
import "./use.mjs";

const [address, chromium, binary, shots, only = ""] = process.argv.slice(2);
if (!shots) {
  console.error("usage: node run.mjs ADDRESS CHROMIUM BINARY FOLDER [NAME]");
  process.exit(2);
}
process.exit((await runAll({ address: address.replace(/\/$/, ""), chromium, binary, shots, only })) === 0 ? 0 : 1);
