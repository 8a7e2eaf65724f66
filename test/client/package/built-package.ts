import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, sourceKey } from "../../../app/bundle/service-bundle.ts";
import { type BuiltPackage, buildPackage } from "../../../app/client-package/build-package.ts";

const CACHE = join(ROOT, "node_modules/.cache/client-package");
/** What a package is made of beside the sources that a bundle of the service is made of. */
const MORE = ["tsconfig.json", "tsconfig.client.json", "client/README.md", "LICENSE"];

const keyOfNow = async (): Promise<string> => {
  const hash = createHash("sha256").update(sourceKey(ROOT));
  for (const path of MORE) hash.update(await readFile(join(ROOT, path)));
  return hash.digest("hex").slice(0, 16);
};

/**
 * The client package of the sources as they are. One test builds it, which takes seconds, and the others find it;
 * several may ask at once. It must not be written to.
 */
export const builtPackage = async (): Promise<BuiltPackage> => {
  const name = `${await keyOfNow()}.tgz`;
  const path = join(CACHE, name);
  if (!(await Bun.file(path).exists())) {
    const draft = join(CACHE, randomUUID());
    await mkdir(draft, { recursive: true });
    try {
      await rename((await buildPackage(draft)).path, path);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    const others = (await readdir(CACHE)).filter(
      (other) => other.endsWith(".tgz") && other !== name,
    );
    await Promise.all(others.map((other) => rm(join(CACHE, other), { force: true })));
  }
  const bytes = await readFile(path);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
};
