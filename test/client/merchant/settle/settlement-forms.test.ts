import { describe, expect, test } from "bun:test";
import { transferLamports } from "../../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../../client/connect.ts";
import { connectMerchant } from "../../../../client/merchant/connect-merchant.ts";
import { keySigner } from "../../../../client/node/key-file.ts";
import type { Fetch } from "../../../../client/service/fetch-directly.ts";
import { decodeBase64, encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { createAssociatedTokenInstruction } from "../../../../core/protocol/accounts/token.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  cancelEscrowInstruction,
  claimRefundInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { readInstruction } from "../../../../core/protocol/instructions/program-call.ts";
import { unsignedTransaction } from "../../../../core/protocol/transaction/unsigned-transaction.ts";
import {
  decodeWireTransaction,
  openedInstructions,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { AGENT, BLOCKHASH, MERCHANT, MINT, problem, TRUST } from "../../support/fake-service.ts";
import { failureOf } from "../../support/failure-of.ts";
import { pendingRecord } from "../../support/pending-record.ts";
import { testClock } from "../../support/test-clock.ts";

const THIEF = localKey("agent/trader").address;
const task = taskHash("GET https://api.example.com", "order-1");
const RECORD = pendingRecord(task, "1000000");
const escrow = RECORD.escrow_pda;
const target = { escrow, mint: MINT, agentOwner: AGENT, rentPayer: AGENT };

const CANCEL = cancelEscrowInstruction(LOCAL_DEPLOYMENT, { escrow, merchant: MERCHANT });
const CLAIM = claimRefundInstruction(LOCAL_DEPLOYMENT, target);
const EMPTY_CLAIM = claimRefundInstruction(LOCAL_DEPLOYMENT, { ...target, agentOwner: null });
const RENT = returnRentInstruction(LOCAL_DEPLOYMENT, target);
const WHOLE = [CANCEL, CLAIM, RENT];

/** What becomes of a relayed transaction: `landed`, an error of the ledger, an expiry, or a refusal of the relay. */
type Fate = "landed" | "failed" | "expired" | "refused" | "unreachable";

/** The names of a transaction's custody calls. */
const callsIn = (base64: string): ReadonlyArray<string> => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  return openedInstructions(decoded.value).map(
    (each) => readInstruction(each, LOCAL_DEPLOYMENT)?.name ?? "another",
  );
};

/**
 * A merchant at a service that prepares these instructions, and only the settlement when it is asked for that. `fates`
 * has what becomes of each relayed transaction in turn.
 */
const merchantAt = (
  prepared: ReadonlyArray<Instruction>,
  fates: ReadonlyArray<Fate> = ["landed"],
  {
    record = {},
    ledgerTime = "2026-11-22T01:00:00Z",
    bare = [CANCEL],
  }: {
    readonly record?: object;
    readonly ledgerTime?: string;
    readonly bare?: ReadonlyArray<Instruction>;
  } = {},
) => {
  const asked: Array<boolean> = [];
  const sent: Array<ReadonlyArray<string>> = [];
  const outcomes = new Map<string, object>();
  const relay = (signed: string): Response => {
    const fate = fates[sent.length] ?? "landed";
    sent.push(callsIn(signed));
    if (fate === "refused") return problem(422, "settlement_check_failed");
    if (fate === "unreachable") return problem(500, "internal_error");
    const bytes = decodeBase64(signed) ?? new Uint8Array();
    const signature = ledgerSignatureFromBytes(bytes.subarray(1, 65));
    const name = "PayoutAccountUnusable";
    outcomes.set(signature, {
      signature,
      status: fate === "expired" ? "expired" : "landed",
      commitment: "confirmed",
      error: fate === "failed" ? { InstructionError: [1, { Custom: 6030 }] } : null,
      program_error: fate === "failed" ? { name, message: "It cannot be paid" } : null,
    });
    return Response.json({ data: { signature, status: "confirmed" } }, { status: 202 });
  };
  const fetch: Fetch = (url, init) => {
    const { pathname } = new URL(url);
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as object) : {};
    const answer = (): Response => {
      if (pathname.endsWith("/prepare")) {
        const isBare = "bare" in body && body.bare === true;
        asked.push(isBare);
        const payer = pathname.includes("/refund/") ? THIEF : MERCHANT;
        const instructions = isBare ? bare : prepared;
        const { bytes } = unsignedTransaction({ payer, instructions, blockhash: BLOCKHASH });
        return Response.json({ data: { transaction: { base64: encodeBase64(bytes) } } });
      }
      if (pathname === "/v1/relay")
        return relay((body as { readonly signed_transaction: string }).signed_transaction);
      const outcome = outcomes.get(pathname.split("/").at(-1) ?? "");
      if (outcome !== undefined) return Response.json({ data: outcome });
      return Response.json({
        data: { ...RECORD, ...record },
        context: { ledger_time: ledgerTime },
      });
    };
    return Promise.resolve(answer());
  };
  let signed = 0;
  const key = keySigner(localKey("merchant/forecast").seed);
  const options = { trust: TRUST, fetch, clock: testClock().clock };
  const wallet = {
    publicKey: key.address,
    sign: (message: Uint8Array) => {
      signed++;
      return key.signMessage(message);
    },
  };
  return {
    cancel: () => connectMerchant("http://service.example", options).cancel({ escrow, wallet }),
    refund: () =>
      connect("http://service.example", options).refund(escrow, {
        signer: keySigner(localKey("agent/trader").seed),
      }),
    asked,
    sent,
    signed: () => signed,
  };
};

describe("a settlement and what follows it", () => {
  test("is sent whole where the service prepared it whole", async () => {
    const merchant = merchantAt(WHOLE);
    expect(await merchant.cancel()).toMatchObject({ refunded: "1000000" });
    expect(merchant.sent).toEqual([["cancel_escrow", "claim_refund", "return_rent"]]);
    expect(merchant.asked).toEqual([false]);
  });

  test.each([
    ["claim_refund and return_rent", [CANCEL]],
    ["return_rent", [CANCEL, CLAIM]],
    ["claim_refund", [CANCEL, RENT]],
    ["the agent's account, since the vault is empty", [CANCEL, EMPTY_CLAIM, RENT]],
  ])("is taken without %s: only the ledger knows what would succeed", async (_, prepared) => {
    const merchant = merchantAt(prepared);
    expect((await merchant.cancel()).signature).toBeString();
    expect(merchant.sent).toHaveLength(1);
  });

  test.each([
    ["a transfer", [...WHOLE, transferLamports(MERCHANT, THIEF, 1n)]],
    ["a transfer in between", [CANCEL, transferLamports(MERCHANT, THIEF, 1n), CLAIM, RENT]],
    ["a second claim", [CANCEL, CLAIM, CLAIM, RENT]],
    ["another order", [RENT, CANCEL, CLAIM]],
    [
      "the rent of another escrow",
      [CANCEL, returnRentInstruction(LOCAL_DEPLOYMENT, { escrow: MINT, rentPayer: AGENT })],
    ],
    [
      "the rent for somebody else",
      [CANCEL, returnRentInstruction(LOCAL_DEPLOYMENT, { escrow, rentPayer: THIEF })],
    ],
    [
      "the rest for somebody else",
      [CANCEL, claimRefundInstruction(LOCAL_DEPLOYMENT, { ...target, agentOwner: THIEF })],
    ],
    [
      "the rest into an account that nobody named",
      [
        CANCEL,
        claimRefundInstruction(LOCAL_DEPLOYMENT, { ...target, agentFallbackAccount: THIEF }),
      ],
    ],
  ])("is refused with %s, and nothing is asked for again", async (_, prepared) => {
    const merchant = merchantAt(prepared);
    expect((await failureOf(merchant.cancel())).code).toBe("prepared_otherwise");
    expect(merchant.signed()).toBe(0);
    expect(merchant.asked).toEqual([false]);
  });

  test.each(["failed", "refused", "expired"] as const)(
    "goes alone once the whole one is %s",
    async (fate) => {
      const merchant = merchantAt(WHOLE, [fate, "landed"]);
      expect((await merchant.cancel()).signature).toBeString();
      expect(merchant.asked).toEqual([false, true]);
      expect(merchant.sent).toEqual([
        ["cancel_escrow", "claim_refund", "return_rent"],
        ["cancel_escrow"],
      ]);
    },
  );

  test("is not sent twice where nothing followed it, or where nobody knows what became of it", async () => {
    const bare = merchantAt([CANCEL], ["failed"]);
    expect((await failureOf(bare.cancel())).code).toBe("PayoutAccountUnusable");
    expect(bare.asked).toEqual([false]);
    const unknown = merchantAt(WHOLE, ["unreachable"]);
    expect((await failureOf(unknown.cancel())).code).toBe("internal_error");
    expect(unknown.asked).toEqual([false]);
  });

  test("that fails alone too fails with what the ledger says then", async () => {
    const merchant = merchantAt(WHOLE, ["expired", "failed"]);
    expect((await failureOf(merchant.cancel())).code).toBe("PayoutAccountUnusable");
    expect(merchant.sent).toHaveLength(2);
  });

  test("goes alone at once with less than 60 s before the end, which a closed session has earlier", async () => {
    for (const [ledgerTime, closes_at, isBare] of [
      ["2026-11-22T09:59:00Z", null, false],
      ["2026-11-22T09:59:01Z", null, true],
      ["2026-11-22T01:00:00Z", "2026-11-22T01:01:00Z", false],
      ["2026-11-22T01:00:01Z", "2026-11-22T01:01:00Z", true],
    ] as const) {
      const merchant = merchantAt(WHOLE, ["landed"], { ledgerTime, record: { closes_at } });
      await merchant.cancel();
      expect([ledgerTime, merchant.asked]).toEqual([ledgerTime, [isBare]]);
      expect(merchant.sent).toHaveLength(1);
    }
  });

  test("is refused when what was asked for alone is not alone", async () => {
    const merchant = merchantAt(WHOLE, ["failed"], { bare: WHOLE });
    expect((await failureOf(merchant.cancel())).code).toBe("prepared_otherwise");
    expect(merchant.sent).toHaveLength(1);
  });
});

describe("a refund", () => {
  const claimable = { next_actions: [{ action: "claim_refund" }] };
  const settled = { ...claimable, state: "PartiallyFulfilled", released_stroops: "400000" };

  test("brings the rent home too, and goes alone when that fails", async () => {
    const whole = merchantAt([CLAIM, RENT], ["landed"], { record: claimable, bare: [CLAIM] });
    expect(await whole.refund()).toMatchObject({ refunded: "1000000" });
    expect(whole.sent).toEqual([["claim_refund", "return_rent"]]);
    const failing = merchantAt([CLAIM, RENT], ["failed"], { record: claimable, bare: [CLAIM] });
    expect((await failing.refund()).signature).toBeString();
    expect(failing.sent).toEqual([["claim_refund", "return_rent"], ["claim_refund"]]);
  });

  test("fetches what a partial release left, and has nothing to do once it is there", async () => {
    const record = { ...settled, refunded_stroops: "600000" };
    const left = merchantAt([CLAIM, RENT], ["landed"], { record });
    expect(await left.refund()).toMatchObject({
      refunded: "600000",
      signature: expect.any(String),
    });
    const home = merchantAt([], [], { record: { ...record, next_actions: [] } });
    expect(await home.refund()).toEqual({ escrow, refunded: "600000", signature: null });
    const fulfilled = { ...record, state: "Fulfilled", refunded_stroops: "0" };
    const all = merchantAt([], [], { record: { ...fulfilled, next_actions: [] } });
    expect((await failureOf(all.refund())).code).toBe("already_settled");
    const empty = merchantAt([EMPTY_CLAIM, RENT], ["landed"], { record: fulfilled });
    expect(await empty.refund()).toMatchObject({ refunded: "0", signature: expect.any(String) });
  });

  test("makes no account at the signer's cost for anybody but the agent, and none beside an empty vault", async () => {
    const made = (owner: typeof AGENT) =>
      createAssociatedTokenInstruction({ payer: THIEF, owner, mint: MINT });
    const absent = merchantAt([made(AGENT), CLAIM], ["landed"], { record: claimable });
    expect((await absent.refund()).signature).toBeString();
    // The ledger looks at no account of the agent then, so that it would not refuse these.
    const other = { ...claimable, agent_owner: MERCHANT };
    const lie = merchantAt([made(MERCHANT), EMPTY_CLAIM], ["landed"], { record: other });
    expect((await failureOf(lie.refund())).code).toBe("unsound_escrow");
    const needless = merchantAt([made(AGENT), EMPTY_CLAIM], ["landed"], { record: claimable });
    expect((await failureOf(needless.refund())).code).toBe("prepared_otherwise");
    expect([lie.sent, needless.sent]).toEqual([[], []]);
  });

  test("takes an archived escrow's last bytes as the service gave them: the ledger has their hash", async () => {
    const lastBytes = new Uint8Array(416).fill(7);
    const claim = claimRefundInstruction(LOCAL_DEPLOYMENT, { ...target, lastBytes });
    const archived = merchantAt([claim], ["landed"], { record: settled });
    expect((await archived.refund()).signature).toBeString();
  });
});

test("a session is neither attested nor released, and the failure says what is missing", async () => {
  const session_key = localKey("a session").address;
  const options = {
    trust: TRUST,
    fetch: () =>
      Promise.resolve(
        Response.json({
          data: { ...RECORD, session_key },
          context: { ledger_time: "2026-11-22T01:00:00Z" },
        }),
      ),
  };
  const merchant = connectMerchant("http://service.example", options);
  const attestor = { publicKey: MERCHANT, sign: () => Promise.reject(new Error("signed")) };
  const attested = await failureOf(
    merchant.attest({
      escrow,
      payload: { task_hash: task },
      template: null,
      attestor,
      journal: { keep: () => Promise.reject(new Error("kept")) },
    }),
  );
  expect([attested.code, attested.message]).toEqual([
    "session_unsupported",
    expect.stringContaining("a voucher of its session key"),
  ]);
  const attestation = {
    escrow,
    attestor: MERCHANT,
    proof_hash: "22".repeat(32),
    timestamp: "2026-11-22T01:00:00Z",
    amount_stroops: null,
    attestation_signature: "AAAA",
    until: "2026-11-22T01:05:00Z",
  };
  const released = await failureOf(merchant.release({ attestation, payer: attestor }));
  expect(released.code).toBe("session_unsupported");
});
