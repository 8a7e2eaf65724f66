import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { delivered, merchantFixture } from "./merchant-fixture.ts";

const wallet = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");
const stranger = localKey("merchant-test/stranger");

let merchant: Awaited<ReturnType<typeof merchantFixture>>;
let escrow: string;
let payload: ReturnType<typeof delivered>;
beforeAll(async () => {
  merchant = await merchantFixture();
  ({ escrow } = await merchant.pay(wallet));
  payload = delivered(await merchant.taskHashOf(escrow));
});
afterAll(() => merchant.stop());

type Case = {
  readonly name: string;
  readonly args: () => Promise<ReadonlyArray<string>>;
  readonly stdin?: () => string;
  readonly code: number;
  readonly says: string;
  /** In a process of its own, whose environment names no ssh-agent. */
  readonly isApart?: true;
};

const journal = () => join(merchant.directory.path, "state");
const attestFor = async (
  address: string,
  ...more: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => [
  "attest",
  ...merchant.there,
  address,
  "--template",
  "api-delivered-v1",
  "--payload",
  "-",
  "--key",
  await merchant.keyFile(attestor),
  ...more,
];
const attestWith = (...more: ReadonlyArray<string>) => attestFor(escrow, ...more);
const good = () => JSON.stringify(payload);
const walletFile = () => merchant.keyFile(wallet);

const CASES: ReadonlyArray<Case> = [
  {
    name: "an unknown option",
    args: () => attestWith("--frobnicate"),
    code: 64,
    says: "--frobnicate",
  },
  {
    name: "a missing escrow",
    args: async () => ["attest", ...merchant.there, "--payload", "-"],
    code: 64,
    says: "ESCROW must be given",
  },
  {
    name: "no address",
    args: () => attestFor("nowhere"),
    stdin: good,
    code: 64,
    says: "escrow is no address",
  },
  {
    name: "an escrow that is not there",
    args: () => attestFor(stranger.address),
    stdin: good,
    code: 1,
    says: "escrow",
  },
  { name: "no JSON", args: () => attestWith(), stdin: () => "{", code: 64, says: "no JSON" },
  {
    name: "a member twice",
    args: () => attestWith(),
    stdin: () => '{"a":1,"a":2}',
    code: 64,
    says: "no JSON that can be hashed",
  },
  {
    name: "no object",
    args: () => attestWith(),
    stdin: () => "[]",
    code: 64,
    says: "no JSON object",
  },
  {
    name: "a payload beside its template",
    args: () => attestWith(),
    stdin: () => JSON.stringify({ ...payload, status_code: 900 }),
    code: 1,
    says: "status_code",
  },
  {
    name: "a payload of another task",
    args: () => attestWith(),
    stdin: () => JSON.stringify({ ...payload, task_hash: "00".repeat(32) }),
    code: 1,
    says: "another task",
  },
  {
    name: "a payload of another ledger",
    args: () => attestWith(),
    stdin: () => JSON.stringify({ ...payload, network: "mainnet" }),
    code: 1,
    says: "another ledger",
  },
  {
    name: "an unknown template",
    args: () => attestWith("--template", "nothing-v9"),
    stdin: good,
    code: 1,
    says: "nothing-v9",
  },
  {
    name: "a part that is the whole",
    args: () => attestWith("--amount", "1.00"),
    stdin: good,
    code: 1,
    says: "not below the amount",
  },
  {
    name: "an amount that is none",
    args: () => attestWith("--amount", "lots"),
    stdin: good,
    code: 64,
    says: "no amount",
  },
  {
    name: "another attestor's key",
    args: async () => attestWith("--key", await merchant.keyFile(stranger)),
    stdin: good,
    code: 1,
    says: "records the attestor",
  },
  {
    name: "a key file that others can read",
    args: async () => attestWith("--key", await merchant.file("open.json", "x", 0o644)),
    stdin: good,
    code: 66,
    says: "chmod 600",
  },
  {
    name: "a key in place of a file",
    args: () => attestWith("--key", Buffer.from(stranger.seed).toString("hex")),
    stdin: good,
    code: 64,
    says: "This is a key itself",
  },
  {
    name: "key and payload on standard input",
    args: () => attestWith("--key", "-"),
    code: 64,
    says: "both read from standard input",
  },
  {
    name: "two signers",
    args: () => attestWith("--ssh-agent", attestor.address),
    stdin: good,
    code: 64,
    says: "Two signers",
  },
  {
    name: "no ssh-agent",
    args: async () => [
      "merchant",
      "cancel",
      ...merchant.there,
      escrow,
      "--ssh-agent",
      wallet.address,
    ],
    code: 66,
    says: "SSH_AUTH_SOCK",
    isApart: true,
  },
  {
    name: "a signer's command that prints nothing",
    args: async () => [
      "merchant",
      "cancel",
      ...merchant.there,
      escrow,
      "--signer-command",
      "true",
      "--signer",
      wallet.address,
    ],
    code: 66,
    says: "printed 0 bytes",
  },
  {
    name: "a trust document that is none",
    args: async () => attestWith("--trust", await merchant.file("no-trust.json", "{}")),
    stdin: good,
    code: 66,
    says: "trust document",
  },
  {
    name: "a payload that is not there",
    args: () => attestWith("--payload", "nowhere.json"),
    code: 66,
    says: "ENOENT",
  },
  {
    name: "a journal that is no folder",
    args: async () => attestWith("--journal", await merchant.file("plain.txt", "")),
    stdin: good,
    code: 66,
    says: "--journal",
  },
  { name: "no action", args: async () => ["merchant"], code: 64, says: "No action" },
  {
    name: "an unknown format",
    args: async () => [
      "merchant",
      "export",
      ...merchant.there,
      "--merchant",
      wallet.address,
      "--format",
      "xls",
    ],
    code: 64,
    says: "csv or jsonl",
  },
  {
    name: "a merchant that is not registered",
    args: async () => ["merchant", "export", ...merchant.there, "--merchant", stranger.address],
    code: 1,
    says: "not registered",
  },
  {
    name: "a name that cannot be shown",
    args: async () => [
      "merchant",
      "register",
      ...merchant.there,
      "--attestor",
      attestor.address,
      "--name",
      "a‮b",
      "--key",
      await walletFile(),
    ],
    code: 64,
    says: "The name",
  },
  {
    name: "an attestor under which nothing verifies",
    args: async () => [
      "merchant",
      "rotate",
      ...merchant.there,
      "--key",
      await walletFile(),
      "--attestor",
      "11111111111111111111111111111111",
    ],
    code: 64,
    says: "No signature can verify",
  },
  {
    name: "an escrow of another merchant",
    args: async () => [
      "merchant",
      "cancel",
      ...merchant.there,
      escrow,
      "--key",
      await merchant.keyFile(localKey("merchant/prices")),
    ],
    code: 1,
    says: "names the merchant",
  },
];

for (const { name, args, stdin, code, says, isApart } of CASES)
  test(`${name}: one line, exit code ${code}, nothing signed`, async () => {
    const run = isApart === true ? merchant.runApart : merchant.run;
    const ran = await run(await args(), stdin?.());
    expect(ran).toMatchObject({ code, stdout: "" });
    expect(ran.stderr).toContain(says);
    expect(ran.stderr.trimEnd()).not.toContain("\n");
    expect(await merchant.stateOf(escrow)).toBe("Pending");
    expect(existsSync(journal())).toBe(false);
  });
