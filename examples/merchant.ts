// A merchant's attestor signs a delivery, and the merchant releases the payment with it. Signs with kit.
// ATTESTOR_KEY, PAYER_KEY: 32 bytes in hex; PAYLOAD: what was delivered, as RFC 8785 text.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import * as kit from "@solana/kit";
import { call, env, wholeClaim } from "./transactions.ts";

const { SERVICE, ESCROW, ATTESTOR_KEY, PAYLOAD } = env;
const attestor = await kit.createKeyPairFromPrivateKeyBytes(Buffer.from(ATTESTOR_KEY, "hex"));
const answer = await fetch(`${SERVICE}/v1/escrows/${ESCROW}/attestation/prepare`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: `{"payload":${PAYLOAD}}`,
});
const { message_hex, timestamp } = (await answer.json()).data;
const proof_hash = hash("sha256", PAYLOAD);
const account = Buffer.from((await call(`/v1/evidence/${ESCROW}`)).account.data_base64, "base64");
const message = Buffer.from(message_hex, "hex");
// A full release: of this escrow, on this ledger, for this payload. Only the time is the service's.
const whole = wholeClaim(account, proof_hash, message.subarray(112, 120));
assert.equal(message_hex, whole.toString("hex"), "another claim");
const signature = await kit.signBytes(attestor.privateKey, message);
const attestation_signature = Buffer.from(signature).toString("base64");
process.env.CLAIM = JSON.stringify({ proof_hash, timestamp, attestation_signature });
await import("./passer_by.ts"); // which releases, as anybody with this claim could
