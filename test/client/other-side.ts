import {
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  signTransaction,
} from "@solana/kit";
import { createKeyPairFromPrivateKeyBytes } from "@solana/kit";
import type { LocalKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import type { Json } from "../../core/domain/encoding/canonical-json.ts";

type Prepared = { readonly transaction: { readonly base64: string } };
type Claim = {
  readonly proof_hash: string;
  readonly timestamp: string;
  readonly message_base64: string;
};

const post = async <A>(url: string, body: object): Promise<A> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text}`);
  return (JSON.parse(text) as { readonly data: A }).data;
};

const relay = async (url: string, { transaction }: Prepared, payer: LocalKey): Promise<void> => {
  const unsigned = getTransactionDecoder().decode(Buffer.from(transaction.base64, "base64"));
  const key = await createKeyPairFromPrivateKeyBytes(payer.seed);
  const signed = await signTransaction([key], unsigned);
  await post(`${url}/v1/relay`, {
    signed_transaction: getBase64EncodedWireTransaction(signed),
    confirm: true,
  });
};

/** What the merchant's side does of an escrow: attest a payload, for all or a part of the amount, and release. */
export const attestAndRelease = async (
  url: string,
  escrow: string,
  attestor: LocalKey,
  payer: LocalKey,
  payload: { readonly [name: string]: Json },
  amount?: string,
): Promise<void> => {
  const part = amount === undefined ? {} : { amount_stroops: amount };
  const path = `${url}/v1/escrows/${escrow}`;
  const claim = await post<Claim>(`${path}/attestation/prepare`, { payload, ...part });
  const signature = attestor.sign(Buffer.from(claim.message_base64, "base64"));
  const prepared = await post<Prepared>(`${path}/release/prepare?transaction=true`, {
    proof_hash: claim.proof_hash,
    timestamp: claim.timestamp,
    attestation_signature: Buffer.from(signature).toString("base64"),
    payer: payer.address,
    ...part,
  });
  await relay(url, prepared, payer);
};

/** Sends an expired escrow's money back to its agent. */
export const refund = async (url: string, escrow: string, payer: LocalKey): Promise<void> => {
  const path = `${url}/v1/escrows/${escrow}/refund/prepare?transaction=true`;
  await relay(url, await post<Prepared>(path, { payer: payer.address }), payer);
};

/** What the merchant's wallet does with an escrow that it will not deliver for. */
export const cancel = async (url: string, escrow: string, merchant: LocalKey): Promise<void> => {
  const path = `${url}/v1/escrows/${escrow}/cancel/prepare?transaction=true`;
  await relay(url, await post<Prepared>(path, {}), merchant);
};
