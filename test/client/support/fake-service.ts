import { localKey, LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import type { Payment } from "../../../client/pay/payment-terms.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import type { TransactionSigner } from "../../../client/signing/sign-transaction.ts";
import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import trust from "../../vectors/evidence/trust.json" with { type: "json" };

const key = localKey("agent/planner");
export const AGENT = key.address;
export const MERCHANT = localKey("merchant/forecast").address;
export const ATTESTOR = localKey("attestor/forecast").address;
export const MINT = LOCAL_USDC_MINT;
export const BLOCKHASH = localKey("a blockhash").address;

/** A trust document with the local programs and one mint. */
export const TRUST = {
  ...trust,
  custody_program: LOCAL_DEPLOYMENT.custodyProgram,
  attestor_program: LOCAL_DEPLOYMENT.attestorProgram,
  supported_mints: [{ address: MINT, symbol: "USDC", decimals: 6 }],
};

/** A signer that counts what it signs. */
export const countingSigner = () => {
  let signed = 0;
  const signer: TransactionSigner = {
    address: AGENT,
    signTransactions: (transactions) => {
      signed += transactions.length;
      return Promise.resolve(
        transactions.map(({ messageBytes }) => ({ [AGENT]: key.sign(messageBytes) })),
      );
    },
  };
  return { signer, signed: () => signed };
};

/** The payment of the tests. */
export const PAYMENT = {
  merchant: MERCHANT,
  amount: "1.50",
  task: "GET https://api.example.com",
  nonce: "order-1",
  ttl: 3600,
} satisfies Payment;

/** What is asked of prepare. */
export type Asked = {
  readonly agent_owner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly amount_stroops: string;
  readonly ttl_seconds: number;
  /** The end itself; the instruction then carries no time to live. */
  readonly expires_at?: string;
  readonly task_intent: string;
  readonly nonce: string;
  /** A session's. */
  readonly session_key?: Address | undefined;
};

/** What an honest service prepares. */
export const honestTransaction = (asked: Asked, extra: ReadonlyArray<Instruction> = []) =>
  unsignedTransaction({
    payer: asked.agent_owner,
    blockhash: BLOCKHASH,
    instructions: [
      ...extra,
      createEscrowInstruction(LOCAL_DEPLOYMENT, {
        payer: asked.agent_owner,
        agentOwner: asked.agent_owner,
        merchant: asked.merchant,
        mint: asked.mint,
        taskHash: taskHash(asked.task_intent, asked.nonce),
        attestor: ATTESTOR,
        sessionKey: asked.session_key,
        amount: BigInt(asked.amount_stroops),
        ...(asked.expires_at === undefined
          ? { ttlSeconds: asked.ttl_seconds }
          : { ttlSeconds: 0, expiresAt: parseUnixTime(asked.expires_at) }),
      }),
    ],
  }).bytes;

const json = (data: object, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(data), { status, headers });

/** A problem answer. */
export const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json({ code, detail: `It is ${code}.`, cure: "Do otherwise." }, status, headers);

/** A service in memory on a ledger of one agent. `prepare` may lie. */
export const fakeService = (prepare: (asked: Asked) => Uint8Array = honestTransaction) => {
  const escrows = new Map<string, object>();
  const outcomes = new Map<string, object>();
  const seen: Array<string> = [];
  let preparedFor: Asked | null = null;

  const relay = (signed: string): Response => {
    const bytes = decodeBase64(signed) ?? new Uint8Array();
    const signature = ledgerSignatureFromBytes(bytes.subarray(1, 65));
    if (preparedFor === null) return problem(422, "validation_failed");
    const asked = preparedFor;
    const hash = taskHash(asked.task_intent, asked.nonce);
    const { address } = escrowAddress(LOCAL_DEPLOYMENT, asked.agent_owner, hash);
    if (!escrows.has(address))
      escrows.set(address, {
        escrow_pda: address,
        agent_owner: asked.agent_owner,
        merchant: asked.merchant,
        mint: asked.mint,
        amount_stroops: asked.amount_stroops,
        task_hash: hash,
        attestor: ATTESTOR,
        created_at: "2026-11-22T00:00:00Z",
        expires_at:
          asked.expires_at ??
          new Date(Date.parse("2026-11-22T00:00:00Z") + asked.ttl_seconds * 1000)
            .toISOString()
            .replace(".000Z", "Z"),
        session_key: asked.session_key ?? null,
      });
    outcomes.set(signature, { signature, status: "landed", commitment: "confirmed", error: null });
    return json({ data: { signature, status: "confirmed" } }, 202);
  };

  const fetch: Fetch = async (url, init) => {
    init.signal?.throwIfAborted();
    const { pathname } = new URL(url);
    seen.push(`${init.method} ${pathname}`);
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as object) : {};
    if (pathname === "/v1/escrows/prepare") {
      preparedFor = body as Asked;
      return json({ data: { transaction: { base64: encodeBase64(prepare(preparedFor)) } } });
    }
    if (pathname === "/v1/relay")
      return relay((body as { readonly signed_transaction: string }).signed_transaction);
    const name = pathname.split("/").at(-1) ?? "";
    const found = pathname.startsWith("/v1/relay/") ? outcomes.get(name) : escrows.get(name);
    return found === undefined ? problem(404, "not_found") : json({ data: found });
  };
  return { fetch, escrows, seen: seen as ReadonlyArray<string> };
};
