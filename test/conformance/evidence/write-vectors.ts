import { join } from "node:path";
import { vectorFiles } from "./vector-files.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");

// Writes every vector. vectors.test.ts compares the stored files with these.
for (const [name, text] of vectorFiles()) await Bun.write(join(FOLDER, name), text);
