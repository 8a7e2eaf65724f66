import { join } from "node:path";
import { bundledProgram } from "../pays-once/bundled-program.ts";

/** The project's own sides as commands, bundled into `folder`. */
export const ourSides = async (folder: string) => ({
  seller: await bundledProgram(join(import.meta.dir, "our-seller.ts"), folder),
  buyer: await bundledProgram(join(import.meta.dir, "our-buyer.ts"), folder),
});
