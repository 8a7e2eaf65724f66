import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../../core/domain/sha256.ts";

const PACKAGE = "surfpool-sdk-linux-x64-gnu";
const VERSION = "1.2.0";
/** SHA-256 of the addon in that package. */
const SHA256 = "73eb9439d255727b114fcaf345c32c43063459f3953881db587acdd265cce64d";
const PROCESS = fileURLToPath(new URL("surfpool-process.ts", import.meta.url));

/**
 * The path of Surfpool's addon, fetched by npm's registry unless an earlier run has left it in the system's temporary
 * folder.
 */
const addon = async (): Promise<string> => {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`--surfpool: ${PACKAGE} runs on Linux on x64 only`);
  const folder = join(tmpdir(), `${PACKAGE}-${VERSION}`);
  const file = join(folder, "node_modules", PACKAGE, "surfpool-sdk.linux-x64-gnu.node");
  if (!(await Bun.file(file).exists())) {
    await mkdir(folder, { recursive: true });
    await Bun.write(join(folder, "package.json"), "{}");
    const add = [process.execPath, "add", "--exact", "--ignore-scripts", `${PACKAGE}@${VERSION}`];
    const { exitCode, stderr } = Bun.spawnSync(add, { cwd: folder, stdin: "ignore" });
    if (exitCode !== 0)
      throw new Error(`--surfpool: ${PACKAGE} cannot be fetched: ${stderr.toString().trim()}`);
  }
  const found = bytesToHex(sha256(new Uint8Array(await readFile(file))));
  if (found !== SHA256)
    throw new Error(`--surfpool: ${file} is another file, sha256 ${found}; remove it`);
  return file;
};

/** Surfpool in a process of its own, with an empty ledger that nobody else uses. */
export const startSurfpool = async () => {
  const child = Bun.spawn([process.execPath, PROCESS, await addon()], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const rpcUrl = new TextDecoder().decode(value).trim();
  if (!rpcUrl.startsWith("http")) throw new Error("--surfpool: it does not start");
  return {
    rpcUrl,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
    },
  };
};
