import { expect, test } from "bun:test";
import type { SettleContext, SettleFailureContext } from "@x402/core/server";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { readEscrowTerms } from "../../../client/merchant/settle/escrow-terms.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { requestsTo } from "../../../client/service/requests.ts";
import { networkOf, sellerScheme } from "../../../client/x402.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import {
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { readInstruction } from "../../../core/protocol/instructions/program-call.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import {
  decodeWireTransaction,
  openedInstructions,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import { readRequirements } from "../../../core/protocol/x402/payment-requirements.ts";
import { AGENT, ATTESTOR, BLOCKHASH, MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { pendingRecord } from "../support/pending-record.ts";
import { HELD } from "./held.ts";

const SERVICE = "http://service.example";
const payer = localKey("agent/trader");
const network = networkOf(TRUST);
const request = "GET http://seller.example/quotes";
const accepted = {
  scheme: "auth-capture",
  network,
  asset: MINT,
  amount: "10000",
  payTo: MERCHANT,
  maxTimeoutSeconds: 600,
  extra: {
    ...HELD,
    custody: LOCAL_DEPLOYMENT.custodyProgram,
    captureAuthorizer: ATTESTOR,
    request,
  },
};
const { custodyProgram } = LOCAL_DEPLOYMENT;
const read = readRequirements(accepted, { network, custodyProgram });
if (!("value" in read)) throw new Error(read.fault.detail);
const nonce = "0123456789abcdef";
const task = taskHash(read.value.task, nonce);
const escrow = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task).address;

type Claim = {
  readonly proof_hash: string;
  readonly timestamp: string;
  readonly attestation_signature: string;
  readonly bare?: boolean;
};

/**
 * A seller at a service that prepares releases with the rent behind them where `isWhole`, unless it is asked for the
 * release alone.
 */
const sellerWhere = (isWhole: boolean) => {
  const settled: Array<ReadonlyArray<string | undefined>> = [];

  /** The release of a claim, as an honest service prepares it. */
  const prepared = async (claim: Claim): Promise<Response> => {
    const policy = policyIn(TRUST);
    const terms = await readEscrowTerms({ policy, requests: requestsTo(SERVICE, fetch) }, escrow);
    const signature = decodeBase64(claim.attestation_signature);
    const [proofHash, timestamp] = [parseHash32(claim.proof_hash), parseUnixTime(claim.timestamp)];
    if (!signature || !proofHash || timestamp === undefined) throw new Error("no claim");
    const total = terms.amount;
    const named = { domain: domainOf(policy), terms: terms.terms, proofHash, total, timestamp };
    const message = attestationMessage({ ...named, ...SINGLE_DELIVERY });
    const { bytes } = unsignedTransaction({
      payer: payer.address,
      blockhash: BLOCKHASH,
      instructions: [
        ed25519Instruction({ publicKey: ATTESTOR, signature, message }),
        releaseEscrowInstruction(LOCAL_DEPLOYMENT, { escrow, mint: MINT, merchant: MERCHANT }),
        ...(isWhole && claim.bare !== true
          ? [returnRentInstruction(LOCAL_DEPLOYMENT, { escrow, rentPayer: AGENT })]
          : []),
      ],
    });
    return Response.json({ data: { transaction: { base64: encodeBase64(bytes) } } });
  };

  const fetch: Fetch = (url, init) => {
    const { pathname } = new URL(url);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : {};
    if (pathname.endsWith("/release/prepare")) return prepared(body as Claim);
    if (pathname === "/x402/settle") {
      const { paymentPayload } = body as {
        readonly paymentPayload: { readonly payload: { readonly transaction: string } };
      };
      const { transaction } = paymentPayload.payload;
      const decoded = decodeWireTransaction(decodeBase64(transaction) ?? new Uint8Array());
      if ("malformed" in decoded) throw new Error(decoded.malformed);
      const calls = openedInstructions(decoded.value);
      settled.push(calls.map((each) => readInstruction(each, LOCAL_DEPLOYMENT)?.name));
      return Promise.resolve(Response.json({ success: true, transaction: "", network }));
    }
    const context = { ledger_time: "2026-11-22T01:00:00Z" };
    return Promise.resolve(Response.json({ data: pendingRecord(task, "10000"), context }));
  };

  const scheme = sellerScheme(SERVICE, {
    trust: TRUST,
    attestor: keySigner(localKey("attestor/forecast").seed),
    payer: keySigner(payer.seed),
    fetch,
  });
  const context = {
    phase: "after-handler",
    paymentPayload: { x402Version: 2, accepted, payload: { agent: AGENT, nonce, escrow } },
    requirements: accepted,
    transportContext: {
      request: {
        method: "GET",
        adapter: { getMethod: () => "GET", getUrl: () => "http://seller.example/quotes" },
      },
      responseBody: new TextEncoder().encode("1.50"),
    },
  } as unknown as SettleContext;
  return {
    settled,
    release: () => Promise.resolve(scheme.enrichSettlementPayload?.(context)),
    /** What the seller answers to a settlement that failed with this reason. */
    failed: (errorReason: string) =>
      Promise.resolve(
        scheme.schemeHooks?.onSettleFailure?.({
          ...context,
          error: { errorReason },
        } as unknown as SettleFailureContext),
      ),
  };
};

test("a release that is refused with what follows it is settled alone", async () => {
  const { release, failed, settled } = sellerWhere(true);
  expect(await release()).toMatchObject({ type: "capture", transaction: expect.any(String) });
  expect(await failed("settlement_check_failed")).toMatchObject({
    recovered: true,
    result: { success: true },
  });
  expect(settled).toEqual([[undefined, "release_escrow"]]);
});

test("one of which nobody knows what became of it is settled again as it is", async () => {
  const { release, failed, settled } = sellerWhere(true);
  await release();
  expect(await failed("settlement_pending")).toMatchObject({ recovered: true });
  expect(settled).toEqual([[undefined, "release_escrow", "return_rent"]]);
});

test("one that stood alone and was refused is not sent again", async () => {
  const { release, failed, settled } = sellerWhere(false);
  await release();
  expect(await failed("settlement_check_failed")).toBeUndefined();
  expect(settled).toEqual([]);
});
