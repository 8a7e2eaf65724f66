// Anybody releases an escrow with its attestation, or refunds an expired one, and pays the fee. Signs with kit.
// PAYER_KEY: 32 bytes in hex; CLAIM: proof_hash, timestamp and attestation_signature as JSON, or {} to refund.
import assert from "node:assert/strict";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { call, checkSettlement, env, read, relay } from "./transactions.ts";

const { ESCROW, PAYER_KEY } = env;
const { CLAIM = "{}" } = process.env;
const seed = Buffer.from(PAYER_KEY, "hex");
const { address: payer, keyPair } = await createKeyPairSignerFromPrivateKeyBytes(seed);
const operation = CLAIM === "{}" ? "refund" : "release";
const path = `/v1/escrows/${ESCROW}/${operation}/prepare?transaction=true`;
const { transaction } = await call(path, { ...JSON.parse(CLAIM), payer });
const helpers = /^(ComputeBudget111|Ed25519SigVerify111|ATokenGPvbdGVxr1b2hvZbsiqW5xWH25)/;
const settlement = read(transaction.base64, helpers);
// Only the payer signs, and the calls are for this escrow. The payer may also pay rent for a new token account.
assert.deepEqual(settlement.signers, [payer]);
checkSettlement(settlement.calls, operation === "refund" ? "claim_refund" : "release_escrow");
const status = await relay(settlement.unsigned, keyPair);
const { settlement_decision: decision } = await call(`/v1/evidence/${ESCROW}`);
console.log(status, decision.status);
