import { readFileSync } from "node:fs";
import { load } from "./load.ts";

// Run as a process. argv[4] clients post the body in the file argv[3] to the address argv[2] for argv[5] seconds, each
// one request after another. Prints the answers per second.
const [address = "", file = "", clients = "", seconds = ""] = process.argv.slice(2);
const { origin, pathname } = new URL(address);
const body = readFileSync(file, "utf8");
const { perSecond } = await load(origin, () => ({ path: pathname, body }), {
  connections: Number(clients),
  seconds: Number(seconds),
});
process.stdout.write(`${perSecond}\n`);
