import { mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AnchorIdl, rootNodeFromAnchor } from "@codama/nodes-from-anchor";
import { renderVisitor } from "@codama/renderers-js";
import { createFromRoot } from "codama";
import { tmpdir } from "../../temporary-root.ts";

const root = join(import.meta.dir, "../../..");

/** Codama leaves out of its imports what Node needs: the file, or the folder's index. */
const withExtensions = (
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      text.replaceAll(/(from '|import\(')(\.[^']*)(')/g, (_, before, target, after) => {
        const place = join(dirname(path), target as string);
        const file = `${place}.ts` in files ? `${String(target)}.ts` : `${String(target)}/index.ts`;
        return `${String(before)}${file}${String(after)}`;
      }),
    ]),
  );

/** What Codama generates for both programs from their IDLs, by file below `client/generated/`, with an index of both. */
export const programClients = async (): Promise<Readonly<Record<string, string>>> => {
  const files: Record<string, string> = {
    "index.ts":
      "export * as custody from './custody';\nexport * as attestor from './attestor';\n",
  };
  for (const name of ["custody", "attestor"] as const) {
    const idl = (await Bun.file(join(root, "programs", `${name}.idl.json`)).json()) as AnchorIdl;
    const folder = await mkdtemp(join(tmpdir(), `codama-${name}-`));
    try {
      const options = {
        formatCode: false,
        generatedFolder: ".",
        kitImportStrategy: "rootOnly" as const,
        syncPackageJson: false,
      };
      await createFromRoot(rootNodeFromAnchor(idl)).accept(renderVisitor(folder, options));
      for (const path of await readdir(folder, { recursive: true }))
        if (path.endsWith(".ts"))
          files[join(name, path)] = await Bun.file(join(folder, path)).text();
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return withExtensions(files);
};
