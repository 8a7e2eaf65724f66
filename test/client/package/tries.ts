import { expect } from "bun:test";
import { chmod, copyFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Installed, type Ran, run } from "./installed.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");
const BIN = "node_modules/settlement-evidence/client/bin/settlement-evidence.js";

/** The installed command with these arguments, in a runtime. */
export const command = (
  { folder }: Installed,
  runtime: ReadonlyArray<string>,
  ...args: ReadonlyArray<string>
): Promise<Ran> => run(folder, ...runtime, BIN, ...args);

/** Every entry of the package does its work in a runtime. */
export const tryEntries = async (
  installed: Installed,
  runtime: ReadonlyArray<string>,
  name: string,
): Promise<void> => {
  const { folder } = installed;
  const key = `entries-${name}.json`;
  const made = await command(installed, runtime, "keygen", key);
  expect(made).toMatchObject({ code: 0, err: "" });
  await copyFile(join(import.meta.dir, "program.mjs"), join(folder, "program.mjs"));
  const ran = await run(folder, ...runtime, "program.mjs", VECTORS, key, `journal-${name}`);
  expect(ran.err).toBe("");
  expect(JSON.parse(ran.out)).toEqual({
    verdict: "verified",
    url: "invalid_url",
    trust: "invalid_trust",
    amount: "invalid_amount",
    limit: "spend_refused",
    kept: 1,
    proofs: 1,
    prepared: "prepared_otherwise",
    signature: 64,
  });
};

/** The commands that need no network do their work in a runtime. */
export const tryOfflineCommands = async (
  installed: Installed,
  runtime: ReadonlyArray<string>,
  name: string,
): Promise<void> => {
  const path = join(installed.folder, `key-${name}.json`);
  const made = await command(installed, runtime, "keygen", path);
  expect([made.code, made.err]).toEqual([0, ""]);
  expect(made.out).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}\n$/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const text = await readFile(path, "utf8");
  const again = await command(installed, runtime, "keygen", path);
  expect([again.code, again.out]).toEqual([73, ""]);
  expect(again.err).toBe(`${path} exists, and is left as it is. Name another file.\n`);
  expect(await readFile(path, "utf8")).toBe(text);

  const packet = join(VECTORS, "fulfilled.json");
  const trust = join(VECTORS, "trust.json");
  const verified = await command(installed, runtime, "verify", packet, "--trust", trust);
  expect([verified.code, verified.out.trimEnd().split("\n").at(-1)]).toEqual([0, "verified"]);
  const without = await command(installed, runtime, "verify", packet, "--json");
  expect([without.code, JSON.parse(without.out).verdict]).toEqual([2, "untrusted"]);
  const wrong = join(installed.folder, `wrong-${name}.json`);
  await writeFile(wrong, (await readFile(packet, "utf8")).replace('"Fulfilled"', '"Refunded"'));
  const failed = await command(installed, runtime, "verify", wrong, "--trust", trust);
  expect([failed.code, failed.out.trimEnd().split("\n").at(-1)]).toEqual([1, "failed"]);
};

/** What each command says of bad input: its arguments, the exit code and the beginning of its only line. */
export const BAD_INPUT: ReadonlyArray<readonly [ReadonlyArray<string>, number, string]> = [
  [["fly"], 64, "There is no command fly. Give one of verify, pay, "],
  [["constructor"], 64, "There is no command constructor. "],
  [["verify"], 64, "FILE [OTHER] must be given, and nothing else beside the options. "],
  [["verify", "a", "b"], 64, "OTHER is given without --fraud. "],
  [["verify", "a", "--rpc", "b"], 64, "Unknown option '--rpc'. "],
  [["verify", "absent.json"], 66, "absent.json cannot be read: ENOENT. "],
  [["verify", "package.json", "--trust", "package.json"], 66, "package.json: the trust policy "],
  [["keygen"], 64, "FILE must be given"],
  [["keygen", "package.json"], 73, "package.json exists, and is left as it is. "],
  [["keygen", "package.json/key"], 73, "package.json/key cannot be written ("],
  [["pay"], 64, "--merchant is missing. "],
  [["pay", "5"], 64, "Nothing is expected beside the options, and there is 5. "],
  [["refund"], 64, "ESCROW must be given"],
  [["refund", "E"], 64, "--key is missing. "],
  [["watch", "E"], 64, "--out is missing. "],
  [["watch", "E", "--out", "package.json"], 73, "package.json exists, and is left as it is. "],
  [["watch", "E", "--out", "o", "--template", "t"], 64, "--template goes with --delivery. "],
  [["watch", "E", "--out", "o", "--delivery", "absent"], 66, "absent cannot be read: ENOENT. "],
  [["doctor"], 64, "--service is missing. "],
  [["doctor", "--service", "here"], 64, "here is no http or https address. "],
];

const PAY =
  "pay --merchant M --amount 1 --task t --ttl 60 --nonce 1 --service http://127.0.0.1:1".split(" ");

/** The same for paying with a trust document and a key, of a wrong form each. */
export const BAD_PAYMENTS: ReadonlyArray<readonly [ReadonlyArray<string>, number, string]> = [
  [PAY, 64, "--key is missing. "],
  [[...PAY, "--key", "k"], 64, "--trust is missing. "],
  [[...PAY, "--key", "k", "--trust", "absent"], 66, "absent cannot be read: ENOENT. "],
  [[...PAY, "--key", "k", "--trust", "package.json"], 66, "The trust document cannot be used: "],
  [[...PAY, "--key", "absent", "--trust", "trust.json"], 66, "absent cannot be read (ENOENT). "],
  [[...PAY, "--key", "open.json", "--trust", "trust.json"], 66, "open.json can be used by others"],
  [[...PAY, "--key", "empty", "--trust", "trust.json"], 66, "empty holds no key. "],
  [[...PAY, "--key", `[${"1,".repeat(63)}1]`, "--trust", "trust.json"], 64, "This is a key itself"],
  [[...PAY, "--key", "key.json", "--trust", "trust.json"], 64, "merchant is no address: M. "],
  [
    [...PAY, "--key", "key.json", "--trust", "trust.json", "--ttl", "1e3"],
    64,
    "ttl must be 1 to 604800 whole seconds. ",
  ],
  [
    [...PAY, "--key", "key.json", "--trust", "trust.json", "--max-per-day", "5"],
    64,
    "--max-per-day and --journal go together. ",
  ],
];

/** The files that `BAD_PAYMENTS` names. */
export const layOut = async (
  installed: Installed,
  runtime: ReadonlyArray<string>,
): Promise<void> => {
  const { folder } = installed;
  await copyFile(join(VECTORS, "trust.json"), join(folder, "trust.json"));
  await command(installed, runtime, "keygen", "key.json");
  await copyFile(join(folder, "key.json"), join(folder, "open.json"));
  await chmod(join(folder, "open.json"), 0o644);
  await writeFile(join(folder, "empty"), "\n", { mode: 0o600 });
};
