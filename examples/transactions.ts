// What agent.ts, merchant.ts and passer_by.ts share: variables, calling, reading a prepared transaction, relaying it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as kit from "@solana/kit";

/** The environment's variables. Reading one that is missing ends the process with 64 and a line that names it. */
export const env = new Proxy<Record<string, string>>(process.env, {
  get: (variables, name: string) => {
    if (variables[name]) return variables[name];
    console.error(`${name} is missing. Set it as examples/README.md says.`);
    process.exit(64);
  },
});

export const call = async (path: string, body?: object) => {
  const headers = { "content-type": "application/json" };
  const request = body && { method: "POST", headers, body: JSON.stringify(body) };
  return (await (await fetch(env.SERVICE + path, request)).json()).data;
};

const bytesOf = (address: string) => kit.getAddressEncoder().encode(kit.address(address));
const sha256 = (...parts: ReadonlyArray<kit.ReadonlyUint8Array | string>) =>
  parts.reduce((hash, part) => hash.update(Buffer.from(part)), createHash("sha256")).digest();

/** What an attestor signs for all of a Pending escrow, its one delivery; the account's bytes must be the escrow's. */
export const wholeClaim = (account: Buffer, proof: string, timestamp: Buffer) => {
  const [custody, agent, task] = [
    bytesOf(env.CUSTODY),
    account.subarray(16, 48),
    account.subarray(144, 176),
  ];
  const made = sha256(
    "escrow",
    agent,
    task,
    account.subarray(9, 10),
    custody,
    "ProgramDerivedAddress",
  );
  assert(made.equals(Buffer.from(bytesOf(env.ESCROW))), "the account of another escrow");
  assert.equal(account[10], 0, "settled already");
  const domain = sha256("settlement-evidence 3\0", bytesOf(env.GENESIS), custody);
  const last = Buffer.from("0100000001000000", "hex");
  const claimed = [
    sha256(account),
    Buffer.from(proof, "hex"),
    account.subarray(176, 184),
    timestamp,
  ];
  return Buffer.concat([Buffer.from("attest 3"), domain, ...claimed, last]);
};

/** The first eight bytes of an instruction's data, in hex. */
export const named = (instruction: string) => sha256(`global:${instruction}`).toString("hex", 0, 8);

/** A prepared transaction: its signers and its calls. Each calls custody, or one of `helpers`, which are left out. */
export const read = (base64: string, helpers: RegExp) => {
  const unsigned = kit.getTransactionDecoder().decode(Buffer.from(base64, "base64"));
  const compiled = kit.getCompiledTransactionMessageDecoder().decode(unsigned.messageBytes);
  const calls = [];
  for (const each of kit.decompileTransactionMessage(compiled).instructions) {
    const data = Buffer.from(each.data ?? []);
    const accounts = each.accounts?.map(({ address }) => address) ?? [];
    if (each.programAddress === env.CUSTODY) calls.push({ accounts, data });
    else assert.match(each.programAddress, helpers);
    const fee = each.programAddress.startsWith("ComputeBudget111") ? data.subarray(4) : [];
    assert(!fee.some(Boolean), "a fee of 0.03 SOL or more");
  }
  return { unsigned, signers: Object.keys(unsigned.signatures), calls };
};

/** Requires that the calls are this one on the escrow, with only what brings rest and rent home behind it. */
export const checkSettlement = (calls: ReturnType<typeof read>["calls"], instruction: string) => {
  const home = new Set(["claim_refund", "return_rent"].map(named));
  const [first, ...following] = calls.map(({ data }) => data.toString("hex", 0, 8));
  assert.equal(first, named(instruction), "another instruction");
  assert(
    following.every((name) => home.has(name)),
    "another instruction behind it",
  );
  for (const { accounts } of calls) assert.equal(accounts[0], env.ESCROW, "another escrow");
};

/** Signs, relays, and asks for the outcome: `landed`, `pending` or `expired`. */
export const relay = async (unsigned: ReturnType<typeof read>["unsigned"], key: CryptoKeyPair) => {
  const signed = await kit.signTransaction([key], unsigned);
  const signed_transaction = kit.getBase64EncodedWireTransaction(signed);
  await call("/v1/relay", { signed_transaction, confirm: true });
  return (await call(`/v1/relay/${kit.getSignatureFromTransaction(signed)}`)).status;
};
