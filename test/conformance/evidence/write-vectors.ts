import { join } from "node:path";
import { vectorFiles } from "./vector-files.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");

// Writes every vector anew; vectors.test.ts compares what stands there with what this would write.
for (const [name, text] of vectorFiles()) await Bun.write(join(FOLDER, name), text);
