import { join } from "node:path";
import { threeLeaves } from "./three-leaves.ts";

// Writes the worked example of docs/log.md. three-leaves.test.ts compares the stored file with it.
const file = join(import.meta.dir, "../../../vectors/log/three-leaves.json");
await Bun.write(file, `${JSON.stringify(threeLeaves(), null, 2)}\n`);
