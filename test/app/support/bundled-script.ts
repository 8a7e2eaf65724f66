import { relative } from "node:path";
import { bundledScript as bundled, ROOT } from "../../../app/bundle/service-bundle.ts";

/**
 * A script and its imports as `bun run start` runs the service, which takes less CPU time than from modules. Rejects
 * for a script without a bundle.
 */
export const bundledScript = async (script: string): Promise<string> => {
  const path = await bundled(relative(ROOT, script));
  if (path === null) throw new Error(`${script} is not among the scripts that are bundled`);
  return path;
};
