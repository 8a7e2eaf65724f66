// Anybody releases an escrow with its attestation, or refunds an expired one, and pays the fee. Signs with kit.
// PAYER_KEY: 32 bytes in hex; CLAIM: proof_hash, timestamp and attestation_signature as JSON, or {} to refund.
import assert from "node:assert/strict";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { call, env, read, relay } from "./transactions.ts";

const { CUSTODY, ESCROW, PAYER_KEY } = env;
const { CLAIM = "{}" } = process.env;
const seed = Buffer.from(PAYER_KEY, "hex");
const { address: payer, keyPair } = await createKeyPairSignerFromPrivateKeyBytes(seed);
const operation = CLAIM === "{}" ? "refund" : "release";
const path = `/v1/escrows/${ESCROW}/${operation}/prepare?transaction=true`;
const { transaction } = await call(path, { ...JSON.parse(CLAIM), payer });
const helpers = /^(ComputeBudget111|Ed25519SigVerify111|ATokenGPvbdGVxr1b2hvZbsiqW5xWH25)/;
const settlement = read(transaction.base64, helpers);
// Check that only the payer signs and that the call is for this escrow. The payer may also pay rent for a new token
// account.
assert.deepEqual([...settlement.signers, settlement.program], [payer, CUSTODY]);
assert.equal(settlement.accounts[0], ESCROW);
const status = await relay(settlement.unsigned, keyPair);
const { settlement_decision: decision } = await call(`/v1/evidence/${ESCROW}`);
console.log(status, decision.status);
