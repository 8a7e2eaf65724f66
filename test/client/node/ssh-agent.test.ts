import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { addressFromBytes } from "../../../core/domain/address.ts";
import {
  keyBlob,
  keysInAnswer,
  signatureInAnswer,
  signRequest,
  sshAgentSigner,
} from "../../../client/node/ssh-agent-signer.ts";
import { signatureBy } from "../../../client/signing/sign-transaction.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const string = (value: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, value]);
};

test("an agent's Ed25519 keys are read among others", () => {
  fc.assert(
    fc.property(fc.array(bytes(32), { maxLength: 5 }), fc.uint8Array(), (keys, other) => {
      const blobs = [
        ...keys.map(keyBlob),
        Buffer.concat([string(Buffer.from("ssh-rsa")), string(other)]),
      ];
      const count = Buffer.alloc(4);
      count.writeUInt32BE(blobs.length);
      const entries = blobs.map((blob) =>
        Buffer.concat([string(blob), string(Buffer.from("a comment"))]),
      );
      const answer = Buffer.concat([Uint8Array.of(12), count, ...entries]);
      expect(keysInAnswer(new Uint8Array(answer))).toEqual(keys);
    }),
  );
});

test("no answer throws, and a cut one is none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(12, 14), (rest, number) => {
      const answer = Uint8Array.of(number, ...rest);
      keysInAnswer(answer);
      const signature = signatureInAnswer(answer);
      expect(signature === undefined || signature.length === 64).toBe(true);
    }),
  );
  const signature = new Uint8Array(64).fill(7);
  const blob = Buffer.concat([string(Buffer.from("ssh-ed25519")), string(signature)]);
  const answer = new Uint8Array(Buffer.concat([Uint8Array.of(14), string(blob)]));
  expect(signatureInAnswer(answer)).toEqual(signature);
  for (let end = 0; end < answer.length; end++)
    expect(signatureInAnswer(answer.slice(0, end))).toBeUndefined();
});

test("a request to sign holds key, message and no flags", () => {
  const request = signRequest(new Uint8Array(32).fill(1), Uint8Array.of(9, 9));
  expect(Buffer.from(request).toString("hex")).toBe(
    [
      "00000042",
      "0d",
      "00000033",
      "0000000b",
      Buffer.from("ssh-ed25519").toString("hex"),
      "00000020",
      "01".repeat(32),
      "00000002",
      "0909",
      "00000000",
    ].join(""),
  );
});

test("an agent that sends its answer byte by byte has its time for all of it, and no more", async () => {
  const directory = await temporaryDirectory();
  const socket = join(directory.path, "agent");
  const closed = Promise.withResolvers<void>();
  const agent = createServer((asking) => {
    asking.write(Uint8Array.of(0, 2, 0, 0));
    const drip = setInterval(() => asking.write(Uint8Array.of(0)), 20);
    asking.on("error", () => undefined);
    asking.on("close", () => {
      clearInterval(drip);
      closed.resolve();
    });
  });
  await new Promise<void>((listening) => void agent.listen(socket, listening));
  const asked = sshAgentSigner("11111111111111111111111111111111", socket, 200);
  const cause: unknown = await asked.catch((failure: unknown) => failure);
  expect(cause).toMatchObject({ code: "signer_unusable" });
  await closed.promise;
  agent.close();
  await directory.remove();
});

const hasAgent = ["ssh-agent", "ssh-add", "ssh-keygen"].every((name) => Bun.which(name) !== null);

test.skipIf(!hasAgent)("OpenSSH's agent signs, and a key that it lacks is refused", async () => {
  const directory = await temporaryDirectory();
  const socket = join(directory.path, "agent");
  const key = join(directory.path, "key");
  const done = async (...command: ReadonlyArray<string>) =>
    Bun.spawn([...command], {
      env: { ...process.env, SSH_AUTH_SOCK: socket },
      stdout: "ignore",
      stderr: "ignore",
    }).exited;
  await done("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key);
  const agent = Bun.spawn(["ssh-agent", "-D", "-a", socket], { stdout: "pipe" });
  try {
    // It prints its socket once it listens.
    await agent.stdout.getReader().read();
    expect(await done("ssh-add", "-q", key)).toBe(0);
    const blob = Buffer.from((await Bun.file(`${key}.pub`).text()).split(" ")[1] ?? "", "base64");
    const address = addressFromBytes(new Uint8Array(blob.subarray(-32)));
    const signer = await sshAgentSigner(address, socket);
    expect(await signatureBy(signer, Uint8Array.of(1, 2, 3))).toHaveLength(64);
    const missing = sshAgentSigner("11111111111111111111111111111111", socket);
    expect(await missing.catch((cause: unknown) => cause)).toMatchObject({
      code: "signer_unusable",
      message: expect.stringContaining(address),
    });
  } finally {
    agent.kill();
    await agent.exited;
    await directory.remove();
  }
});
