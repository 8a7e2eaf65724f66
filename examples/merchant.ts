// A merchant's attestor signs a delivery, and the merchant releases the payment with it. Signs with kit.
// ATTESTOR_KEY, PAYER_KEY: 32 bytes in hex; PAYLOAD: what was delivered, as RFC 8785 text.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import * as kit from "@solana/kit";
import { env } from "./transactions.ts";

const { SERVICE, ESCROW, ATTESTOR_KEY, PAYLOAD } = env;
const attestor = await kit.createKeyPairFromPrivateKeyBytes(Buffer.from(ATTESTOR_KEY, "hex"));
const answer = await fetch(`${SERVICE}/v1/escrows/${ESCROW}/attestation/prepare`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: `{"payload":${PAYLOAD}}`,
});
const { message_hex, timestamp } = (await answer.json()).data;
const proof_hash = hash("sha256", PAYLOAD);
const escrow = Buffer.from(kit.getAddressEncoder().encode(kit.address(ESCROW))).toString("hex");
// 72 bytes are a full release: of this escrow, for this payload.
assert.equal(message_hex.slice(0, 128), escrow + proof_hash, "another claim");
assert.equal(message_hex.length, 144, "not a full release");
const signature = await kit.signBytes(attestor.privateKey, Buffer.from(message_hex, "hex"));
const attestation_signature = Buffer.from(signature).toString("base64");
process.env.CLAIM = JSON.stringify({ proof_hash, timestamp, attestation_signature });
await import("./passer_by.ts"); // which releases, as anybody with this claim could
