// An agent locks a payment, then verifies the evidence. Signs with kit, and only what TERMS ask for.
// AGENT_KEY: 32 bytes in hex; TRUST: the trust document; stdin: what was delivered, as RFC 8785 text.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { createKeyPairFromPrivateKeyBytes, getAddressDecoder } from "@solana/kit";
import { parseTrustPolicy, verifyEvidence } from "settlement-evidence";
import { call, env, named, read, relay } from "./transactions.ts";

const { SERVICE, AGENT_KEY, TERMS, TRUST } = env;
const agent = await createKeyPairFromPrivateKeyBytes(Buffer.from(AGENT_KEY, "hex"));
const [terms, trust] = [JSON.parse(TERMS), parseTrustPolicy(TRUST)];
const { transaction } = await call("/v1/escrows/prepare?transaction=true", terms);
const creation = read(transaction.base64, /^ComputeBudget111/);
const [{ accounts, data }, ...others] = creation.calls;
const [, , merchant, , mint, escrow] = accounts;
const attestor = getAddressDecoder().decode(data.subarray(40, 72));
const [amount_stroops, ttl_seconds] = [`${data.readBigUInt64LE(104)}`, data.readUInt32LE(120)];
const task = hash("sha256", `${terms.task_intent}\0${terms.nonce}`);
// One signer, the agent; one escrow on these terms; beside it only the limits of a small fee.
assert.deepEqual([...creation.signers, ...others], [terms.agent_owner]);
assert.equal(data.toString("hex", 0, 40), named("create_escrow") + task);
const none = data.toString("hex", 72, 104) + data.toString("hex", 112, 120);
assert.match(none, /^0+$/, "a session key, or another end");
assert.deepEqual({ ...terms, merchant, mint, attestor, amount_stroops, ttl_seconds }, terms);
console.log(escrow, await relay(creation.unsigned, agent));
const proof = hash("sha256", (await Bun.stdin.text()).trim());
const packet = await (await fetch(`${SERVICE}/v1/evidence/${escrow}`)).text();
assert("value" in trust && packet.includes(`${escrow}`), "no trust document, or another packet");
console.log(verifyEvidence(packet, trust.value).verdict, packet.includes(proof));
