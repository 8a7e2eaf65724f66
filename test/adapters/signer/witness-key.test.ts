import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { sameKeys } from "../../../adapters/signer/evidence-signer.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { witnessKeyFromFile } from "../../../adapters/signer/log-signer.ts";
import { WitnessKey } from "../../../ports/log/witness-state.ts";

const folder = mkdtempSync(join(tmpdir(), "witness-key-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const seed = new Uint8Array(32).fill(5);
const { publicKey, sign } = ed25519Key(seed);
const path = join(folder, "key");
await writeFile(path, seed.toBase64(), { mode: 0o600 });

const made = (name: string, others: Parameters<typeof sameKeys>[0] = []) =>
  Effect.provide(
    WitnessKey.useSync((key) => key),
    witnessKeyFromFile(name, path, others),
  );

test("it signs with the file's key", async () => {
  const key = await Effect.runPromise(made("witness.example"));
  expect(key).toMatchObject({ name: "witness.example", publicKey });
  const message = Uint8Array.of(1, 2, 3);
  expect(await Effect.runPromise(key.sign(message))).toEqual(sign(message));
});

test("the key of evidence or of a log is refused, and a name that is none", async () => {
  const same = [{ setting: "the evidence key", publicKey: publicKey.slice() }];
  const failed = await Effect.runPromise(Effect.flip(made("witness.example", same)));
  expect(failed.message).toBe(
    `The witness cannot be set up from ${path}: the evidence key is the key of WITNESS_KEY_FILE; each needs one of its own.`,
  );
  expect((await Effect.runPromise(Effect.flip(made("a b")))).source).toBe("WITNESS_NAME");
});

test("a file that others can read is refused", async () => {
  await chmod(path, 0o644);
  const failed = await Effect.runPromise(Effect.flip(made("witness.example")));
  expect(failed.reason).toContain("chmod 600");
  await chmod(path, 0o600);
});

test("two of several keys that are the same are named, and different ones are not", () => {
  const key = (setting: string, byte: number) => ({
    setting,
    publicKey: new Uint8Array(32).fill(byte),
  });
  expect(sameKeys([key("A", 1), key("B", 2), key("C", 1)])).toBe(
    "C is the key of A; each needs one of its own",
  );
  expect(sameKeys([key("A", 1), key("B", 2), key("C", 3)])).toBeNull();
});
