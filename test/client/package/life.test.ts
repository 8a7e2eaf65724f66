import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keyText } from "../../../client/node/key-file.ts";
import { demoService } from "../../app/support/demo-ledger.ts";
import { until } from "../../app/support/running-service.ts";
import { type Installed, installedOffline } from "./installed.ts";
import { command } from "./tries.ts";

const runtime = [process.execPath];
const { service, end } = await demoService();
let installed: Installed;

const at = (...args: ReadonlyArray<string>) =>
  command(installed, runtime, ...args, "--service", service.url, "--trust", "trust.json");

beforeAll(async () => {
  installed = await installedOffline();
  const { folder } = installed;
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  await writeFile(join(folder, "trust.json"), trust);
  await writeFile(join(folder, "agent.json"), keyText(localKey("agent/planner").seed), {
    mode: 0o600,
  });
}, 120_000);

afterAll(async () => {
  await end();
  await rm(installed.folder, { recursive: true, force: true });
});

const pay = (nonce: string, ...more: ReadonlyArray<string>) =>
  at(
    "pay",
    "--key",
    "agent.json",
    "--merchant",
    localKey("merchant/forecast").address,
    "--amount",
    "1.50",
    "--task",
    "GET https://api.example.com",
    "--ttl",
    "1",
    "--nonce",
    nonce,
    ...more,
  );

test("a payment is made once, limited by the day, refunded, watched and verified by the installed command", async () => {
  // A busy machine can make a service that is ready say for a moment that it is not.
  const doctor = await until(
    "the doctor finds nothing",
    () => at("doctor", "--key", "agent.json"),
    ({ code }) => code === 0,
  );
  expect(doctor).toMatchObject({ code: 0, err: "" });

  const limits = ["--max-per-day", "2", "--journal", "payments.jsonl"];
  const paid = await pay("order-1", ...limits, "--rpc", service.rpcUrl);
  expect([paid.code, paid.err]).toEqual([0, ""]);
  const { escrow, signature, amount, terms } = JSON.parse(paid.out);
  expect([amount, typeof signature, terms]).toEqual(["1500000", "string", "same"]);
  const again = await pay("order-1", ...limits);
  expect(JSON.parse(again.out)).toMatchObject({ escrow, signature: null, terms: "unproven" });
  expect(again.err).toInclude("Only the service says so");
  const beyond = await pay("order-2", ...limits);
  expect([beyond.code, beyond.out]).toEqual([1, ""]);
  expect(beyond.err).toBe(
    "1.500000 USDC on top of 1.500000 USDC is more than 2 a day. Nothing was signed. Raise the limit if this payment is meant.\n",
  );

  const refunded = await until(
    "the escrow expires and is refunded",
    () => at("refund", escrow, "--key", "agent.json"),
    ({ code }) => code === 0,
    60,
  );
  expect(JSON.parse(refunded.out)).toMatchObject({ escrow, refunded: "1500000" });
  const twice = await at("refund", escrow, "--key", "agent.json");
  expect([twice.code, JSON.parse(twice.out).signature]).toEqual([0, null]);

  const watched = await at("watch", escrow, "--out", "packet.json");
  expect([watched.code, watched.err]).toEqual([0, ""]);
  expect(JSON.parse(watched.out)).toMatchObject({
    state: "Refunded",
    refunded: "1500000",
    verdict: "verified",
  });
  const verified = await command(
    installed,
    runtime,
    "verify",
    "packet.json",
    "--trust",
    "trust.json",
  );
  expect(verified.code).toBe(0);
}, 180_000);
