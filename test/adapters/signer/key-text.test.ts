import { afterAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Fiber, Redacted } from "effect";
import { TestClock } from "effect/testing";
import { patientClock } from "../../doubles/patient-clock.ts";
import fc from "fast-check";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { evidenceSignerFromText } from "../../../adapters/signer/evidence-signer.ts";
import { isHeldKey, keyOfText } from "../../../adapters/signer/key-text.ts";
import { commandSigner, unattendedSigner } from "../../../client/node/command-signer.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { verifyEd25519 } from "../../../core/protocol/crypto/strict-ed25519.ts";
import type { KeyUnavailable } from "../../../ports/evidence-signer.ts";
import type { SigningKey } from "../../../ports/log/log-signer.ts";
import { runs } from "../../arbitraries/runs.ts";
import { temporaryDirectory, until } from "../../app/support/running-service.ts";
import { evidenceSignerContract } from "../../contracts/evidence-signer.ts";
import { KMS_FAILURES, type KmsMood, startKms } from "../../doubles/fake-kms.ts";

const directory = await temporaryDirectory();
const seed = new Uint8Array(32).fill(21);
const { publicKey, sign } = ed25519Key(seed);
const address = addressFromBytes(publicKey);
const socket = join(directory.path, "kms");
let mood: () => KmsMood | Promise<KmsMood> = () => "signs";
const kms = startKms(socket, seed, () => mood());
afterAll(async () => {
  kms[Symbol.dispose]();
  await directory.remove();
});

const keyOf = (text: string): SigningKey => {
  const key = keyOfText(Redacted.make(text));
  if (key === undefined) throw new Error("no key");
  return key;
};
const message = Uint8Array.of(1, 2, 3);
const failureOf = (key: SigningKey): Promise<KeyUnavailable> =>
  Effect.runPromise(Effect.flip(key.sign(message)));

describe("a key that an agent holds", () => {
  evidenceSignerContract("agent:", () =>
    evidenceSignerFromText(Redacted.make(`agent:${address} ${socket}\n`)),
  );

  test("gives a signature that verifies or a named failure, whatever the KMS does", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom("signs" as const, ...KMS_FAILURES.filter((each) => each !== "hangs")),
        fc.integer({ min: 0, max: 3 }),
        fc.uint8Array({ maxLength: 200 }),
        async (now, waitTurns, asked) => {
          mood = async () => {
            for (let turn = 0; turn < waitTurns; turn++) await Promise.resolve();
            return now;
          };
          const exit = await Effect.runPromise(
            Effect.result(keyOf(`agent:${address} ${socket}`).sign(asked)),
          );
          expect(exit._tag).toBe(now === "signs" ? "Success" : "Failure");
          if (exit._tag === "Success")
            expect(verifyEd25519(exit.success, asked, publicKey)).toBe(true);
          else {
            expect(exit.failure._tag).toBe("KeyUnavailable");
            expect(exit.failure.message).toStartWith(`The key of the ssh-agent, ${address},`);
          }
        },
      ),
      runs(60),
    ));

  test("fails after ten seconds where the KMS hangs, and is asked anew", async () => {
    mood = () => "hangs";
    const key = keyOf(`agent:${address} ${socket}`);
    const late = await Effect.runPromise(
      Effect.gen(function* () {
        const asked = yield* Effect.forkChild(Effect.flip(key.sign(message)));
        yield* TestClock.adjust("9 seconds");
        expect(asked.pollUnsafe()).toBeUndefined();
        yield* TestClock.adjust("1 seconds");
        return yield* Fiber.join(asked);
      }).pipe(Effect.provide(patientClock())),
    );
    expect(late.reason).toBe("no answer in 10 s");
    mood = () => "signs";
    expect(await Effect.runPromise(key.sign(message))).toEqual(sign(message));
  });

  test("asks for four signatures at the same time, and no more", async () => {
    const held = Promise.withResolvers<KmsMood>();
    const four = Promise.withResolvers<void>();
    let waiting = 0;
    mood = () => {
      waiting += 1;
      if (waiting === 4) four.resolve();
      return held.promise;
    };
    const key = keyOf(`agent:${address} ${socket}`);
    const all = Promise.all(Array.from({ length: 9 }, () => Effect.runPromise(key.sign(message))));
    await four.promise;
    expect(waiting).toBe(4);
    held.resolve("signs");
    expect(await all).toEqual(Array.from({ length: 9 }, () => sign(message)));
  });

  test("is unavailable without the agent, and where the agent lacks it", async () => {
    const nowhere = await failureOf(keyOf(`agent:${address} ${directory.path}/nowhere`));
    expect(nowhere.reason).toContain("does not answer");
    const other = addressFromBytes(ed25519Key(new Uint8Array(32).fill(22)).publicKey);
    expect((await failureOf(keyOf(`agent:${other} ${socket}`))).reason).toContain("does not hold");
  });
});

describe("a key that a command signs with", () => {
  const command = join(import.meta.dir, "../../doubles/kms-command.ts");
  const text = `command:${address} ${process.execPath} ${command} ${socket} ${address}`;

  test("signs what the command gets on standard input", async () => {
    mood = () => "signs";
    expect(await Effect.runPromise(keyOf(text).sign(message))).toEqual(sign(message));
    mood = () => "other_key";
    expect((await failureOf(keyOf(text))).reason).toContain("no signature of this message");
  });

  test.each([
    ["exit 3", "ended with 3"],
    ["/nowhere/at-all 2>/dev/null", "ended with 127"],
    ["head -c 64 /dev/zero", "no signature of this message"],
    ["printf short", "printed 5 bytes"],
    ["cat /dev/zero", "printed more than"],
  ])("fails by name for the command %s", async (shell, reason) => {
    expect((await failureOf(keyOf(`command:${address} ${shell}`))).reason).toContain(reason);
  });
});

const isThere = (pid: number): boolean => {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
};

test.each([
  ["a command", commandSigner, "exec sleep 1000"],
  ["every part of a service's pipeline", unattendedSigner, "sleep 1000 | cat"],
  ["what a service's command leaves behind", unattendedSigner, "sleep 1000 & exit 0"],
] as const)("%s that hangs is killed when its time is over", async (title, signerOf, hanging) => {
  const pidFile = join(directory.path, title.replaceAll(/\W/g, "-"));
  // The process that hangs writes its number before it does.
  const line = `sh -c 'echo $$ > ${pidFile}; exec sleep 1000'`;
  const signer = signerOf(
    hanging.replace("sleep 1000", () => line),
    address,
    500,
  );
  const failure = await signer.sign(message).then(
    () => "it signed",
    (cause: unknown) => String(cause),
  );
  expect(failure).toContain("took longer than 0.5 seconds");
  // It may have been killed before it came to its first line.
  const pid = Number(await readFile(pidFile, "utf8").catch(() => "0"));
  await until(
    "the command is gone",
    () => Promise.resolve(isThere(pid)),
    (there) => !there,
  );
});

test("what a command starts for later calls may go on: its standard error is not waited for", async () => {
  const pidFile = join(directory.path, "for-later");
  const shell = `sleep 1000 >/dev/null & echo $! > ${pidFile}; head -c 64 /dev/zero`;
  expect(await unattendedSigner(shell, address, 60_000).sign(message)).toHaveLength(64);
  const pid = Number(await readFile(pidFile, "utf8"));
  expect(isThere(pid)).toBe(true);
  process.kill(pid, "SIGKILL");
});

test("a service that ends leaves no command of a key behind", async () => {
  const pidFile = join(directory.path, "left-behind");
  const module = join(import.meta.dir, "../../../client/node/command-signer.ts");
  const code = `
    import { unattendedSigner } from ${JSON.stringify(module)};
    import { existsSync } from "node:fs";
    const command = ${JSON.stringify(`sh -c 'echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 1000' | cat`)};
    void unattendedSigner(command, ${JSON.stringify(address)}, 600_000).sign(new Uint8Array(3));
    setInterval(() => existsSync(${JSON.stringify(pidFile)}) && process.exit(3), 10);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "ignore" });
  expect(await child.exited).toBe(3);
  const pid = Number(await readFile(pidFile, "utf8"));
  expect(pid).toBeGreaterThan(0);
  await until(
    "the command is gone",
    () => Promise.resolve(isThere(pid)),
    (there) => !there,
  );
});

test("of what a command says on its standard error the last 4 kB are kept, for the log", async () => {
  const shell = "yes no-such-key | head -c 1200000 >&2; echo the token is stale >&2; exit 3";
  const failure = await failureOf(keyOf(`command:${address} ${shell}`));
  expect(failure.reason).toContain("ended with 3");
  expect(failure.message).not.toContain("token");
  expect(failure.said).toEndWith("no-such-key\nthe token is stale");
  expect(failure.said?.length).toBeLessThanOrEqual(4096);
  expect((await failureOf(keyOf(`command:${address} exit 3`))).said).toBeNull();
});

test("other texts are no keys, and a text with a key in it names no holder", () => {
  const base64 = Buffer.from(seed).toString("base64");
  for (const none of [
    "agent:",
    "agent:x",
    `agent ${address}`,
    `command:${address}`,
    `command:${address} `,
    `agent:${address} a\nb`,
    `http:${address}`,
  ])
    expect(keyOfText(Redacted.make(none))).toBeUndefined();
  expect(keyOf(base64).publicKey).toEqual(publicKey);
  expect(isHeldKey(base64)).toBe(false);
  expect(isHeldKey(`agent:${address}`)).toBe(true);
  expect(isHeldKey(`command:${address} sign it`)).toBe(true);
});
