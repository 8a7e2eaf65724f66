import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { synced, until } from "../../app/support/running-service.ts";
import { delivered, merchantFixture } from "./merchant-fixture.ts";

const wallet = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");
const passerBy = localKey("agent/trader");
const nextKey = localKey("merchant-test/next-attestor");
const lastKey = localKey("merchant-test/last-attestor");

let merchant: Awaited<ReturnType<typeof merchantFixture>>;
beforeAll(async () => {
  merchant = await merchantFixture();
});
afterAll(() => merchant.stop());

const linesOf = (stdout: string): ReadonlyArray<Record<string, unknown>> =>
  stdout
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const attest = async (escrow: string, payload: object, ...more: ReadonlyArray<string>) =>
  merchant.run(
    [
      "attest",
      ...merchant.there,
      escrow,
      "--template",
      "api-delivered-v1",
      "--payload",
      "-",
      "--key",
      await merchant.keyFile(attestor),
      ...more,
    ],
    JSON.stringify(payload),
  );

test("a wallet registers, and again without harm", async () => {
  const args = [
    "merchant",
    "register",
    ...merchant.there,
    "--attestor",
    attestor.address,
    "--name",
    "Passer-by",
    "--key",
    await merchant.keyFile(passerBy),
  ];
  const first = await merchant.runApart(args);
  expect([first.code, first.stderr]).toEqual([0, ""]);
  expect(linesOf(first.stdout)).toMatchObject([{ merchant: passerBy.address, name: "Passer-by" }]);
  expect(linesOf(first.stdout)[0]?.["signature"]).toBeString();
  const again = await merchant.run(args);
  expect(linesOf(again.stdout)).toMatchObject([{ signature: null }]);
  const other = await merchant.run([...args, "--name", "Another"]);
  expect([other.code, other.stderr.split("\n").length]).toEqual([1, 2]);
});

test("an escrow is watched, attested and released, and its proof stays the only one", async () => {
  const { escrow } = await merchant.pay(wallet);
  const payload = delivered(await merchant.taskHashOf(escrow));
  const watch = ["merchant", "watch", ...merchant.there, "--merchant", wallet.address, "--once"];
  await synced(merchant.service.url);
  const before = await merchant.run(watch);
  expect(linesOf(before.stdout)).toContainEqual(
    expect.objectContaining({ escrow, awaits: "attestation", amount_stroops: "1000000" }),
  );
  const signed = await attest(escrow, payload);
  expect([signed.code, signed.stderr]).toEqual([0, expect.stringContaining("Not released yet")]);
  const second = await attest(escrow, { ...payload, status_code: 500 });
  expect([second.code, second.stdout]).toEqual([1, ""]);
  expect(second.stderr).toContain("Another claim was kept");
  const part = await attest(escrow, payload, "--amount", "0.40");
  expect([part.code, part.stdout]).toEqual([1, ""]);
  const released = await attest(
    escrow,
    payload,
    "--release",
    "--payer-key",
    await merchant.keyFile(passerBy),
  );
  expect([released.code, released.stderr]).toEqual([0, ""]);
  expect(linesOf(released.stdout)).toMatchObject([{ escrow }, { escrow, released: "1000000" }]);
  expect(await merchant.stateOf(escrow)).toBe("Fulfilled");
  for (const more of [[], ["--release"]]) {
    const again = await attest(escrow, payload, ...more);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(linesOf(again.stdout)).toEqual([{ escrow, released: "1000000", signature: null }]);
  }
  const partly = await attest(escrow, payload, "--amount", "0.40");
  expect([partly.code, partly.stdout]).toEqual([1, ""]);
  expect(partly.stderr).toContain("is Fulfilled already");
  const other = await attest(escrow, { ...payload, status_code: 500 }, "--release");
  expect([other.code, other.stdout]).toEqual([1, ""]);
  expect(other.stderr).toContain("is Fulfilled already");
});

test("a part is released, and a message is signed by a command and on standard input", async () => {
  const { escrow } = await merchant.pay(wallet);
  const payload = await merchant.file(
    "part.json",
    JSON.stringify(delivered(await merchant.taskHashOf(escrow))),
  );
  const key = await merchant.keyFile(attestor);
  const base = [
    "attest",
    ...merchant.there,
    escrow,
    "--template",
    "api-delivered-v1",
    "--payload",
    payload,
    "--amount",
    "0.40",
  ];
  const script = await merchant.file(
    "sign.ts",
    `import { sign, createPrivateKey } from "node:crypto";
const seed = Buffer.from(JSON.parse(await Bun.file(${JSON.stringify(key)}).text()).slice(0, 32));
const key = createPrivateKey({ key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]), format: "der", type: "pkcs8" });
process.stdout.write(sign(null, Buffer.from(await Bun.stdin.arrayBuffer()), key));`,
  );
  const command = `${process.execPath} ${script}`;
  const signed = await merchant.run([
    ...base,
    "--signer-command",
    command,
    "--signer",
    attestor.address,
    "--release",
    "--payer-key",
    await merchant.keyFile(passerBy),
  ]);
  expect([signed.code, signed.stderr]).toEqual([0, ""]);
  expect(linesOf(signed.stdout)).toMatchObject([
    { amount_stroops: "400000" },
    { released: "400000" },
  ]);
  expect(await merchant.stateOf(escrow)).toBe("PartiallyFulfilled");
  const liar = await merchant.run([
    "merchant",
    "cancel",
    ...merchant.there,
    (await merchant.pay(wallet)).escrow,
    "--signer-command",
    command,
    "--signer",
    wallet.address,
  ]);
  expect([liar.code, liar.stdout]).toEqual([1, ""]);
  expect(liar.stderr).toContain("no signature of");
});

test("an escrow is cancelled, by a key on standard input", async () => {
  const { escrow } = await merchant.pay(wallet);
  const args = ["merchant", "cancel", ...merchant.there, escrow, "--key", "-"];
  const key = await Bun.file(await merchant.keyFile(wallet)).text();
  const cancelled = await merchant.run(args, key);
  expect([cancelled.code, cancelled.stderr]).toEqual([0, ""]);
  expect(await merchant.stateOf(escrow)).toBe("Refunded");
  expect(linesOf((await merchant.run(args, key)).stdout)).toMatchObject([{ signature: null }]);
});

test("export gives every escrow in both formats, with totals equal to the ledger's", async () => {
  await synced(merchant.service.url);
  const args = ["merchant", "export", ...merchant.there, "--merchant", wallet.address];
  const csv = await until(
    "the index has caught up with the ledger",
    () => merchant.run(args),
    ({ code }) => code === 0,
    120,
  );
  const jsonl = await merchant.run([...args, "--format", "jsonl"]);
  const { data } = (await (
    await fetch(`${merchant.service.url}/v1/merchants/${wallet.address}`)
  ).json()) as { data: Record<string, unknown> };
  expect(jsonl.code).toBe(0);
  const rows = linesOf(jsonl.stdout);
  expect(csv.stdout.trim().split("\r\n").length).toBe(rows.length + 1);
  const count = (state: string) => rows.filter((row) => row["state"] === state).length;
  expect(data).toMatchObject({
    deliveries: count("Fulfilled"),
    partial_deliveries: count("PartiallyFulfilled"),
  });
  expect(csv.stderr).toContain(`"volume_stroops":"${String(data["volume_stroops"])}"`);
});

test("a rotation names the escrows that need the old key; a compromised one cancels them", async () => {
  const { escrow } = await merchant.pay(wallet);
  const key = await merchant.keyFile(wallet);
  const rotate = (attestor: string, ...more: ReadonlyArray<string>) =>
    merchant.run([
      "merchant",
      "rotate",
      ...merchant.there,
      "--attestor",
      attestor,
      "--key",
      key,
      ...more,
    ]);
  await synced(merchant.service.url);
  const first = await rotate(nextKey.address);
  expect([first.code, first.stderr]).toEqual([0, ""]);
  const [rotated] = linesOf(first.stdout);
  expect(rotated).toMatchObject({ previous_attestor: attestor.address, cancellations: [] });
  expect(rotated?.["still_need_old_key"]).toContainEqual(
    expect.objectContaining({ escrow, attestor: attestor.address }),
  );
  const late = await rotate(nextKey.address, "--compromised");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("further new key")]);
  const revoked = await rotate(lastKey.address, "--compromised", "--cancel");
  expect([revoked.code, revoked.stderr]).toEqual([0, ""]);
  expect(linesOf(revoked.stdout)[0]?.["cancellations"]).toContainEqual(
    expect.objectContaining({ escrow, transaction: expect.any(String), reason: null }),
  );
  expect(await merchant.stateOf(escrow)).toBe("Refunded");
});
