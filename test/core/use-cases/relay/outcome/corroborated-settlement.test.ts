import { describe, expect, test } from "bun:test";
import type { Escrow } from "../../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../../core/domain/ledger/instruction.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../../core/domain/ledger/signature.ts";
import type { RelayEntry } from "../../../../../core/domain/relay/relay-entry.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import {
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../../../core/protocol/transaction/unsigned-transaction.ts";
import { decodeWireTransaction } from "../../../../../core/protocol/transaction/wire-transaction.ts";
import { readRelayOutcome } from "../../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../../core/use-cases/relay/relay-delivery.ts";
import { captured, closed, settled } from "../../../../doubles/escrow-steps.ts";
import { tombstoneAccount } from "../../../../doubles/tombstone.ts";
import { inBlock } from "../../../../world/scripted-chain.ts";
import {
  AGENT,
  CREATED_AT,
  DEPLOYMENT,
  escrowAccount,
  EXPIRES_AT,
  MERCHANT,
  MINT,
  PAYER,
  party,
  proves,
  session,
} from "../../../protocol/rules/session-world.ts";
import { ERROR, EXPIRED, listing, PENDING, round } from "../relayed-creation.ts";
import { EARLIER, type RelayChain, relaying } from "../scripted-ledger.ts";

const target = { escrow: session.address, mint: MINT };
const capture = captureInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const release = releaseEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const cancel = cancelEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const close = closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const claim = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const rent = returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER });
/** A plain payment of another kind, as wallets put beside a call. */
const transfer: Instruction = {
  programAddress: TOKEN_PROGRAM,
  accounts: [],
  data: Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0),
};
const captures = (total: bigint) => [
  proves(session, { total, deliveries: 1 }, { total, count: 1 }),
  capture,
];
const releases = (total: bigint) => [
  proves(session, { total, deliveries: 1, isFinal: true }, { total, count: 1, isClosing: true }),
  release,
];

const attested = (total: bigint) => ({
  proofHash: session.taskHash,
  total,
  timestamp: CREATED_AT,
  deliveries: 1,
  signature: new Uint8Array(64),
});
const [NOW, OWN, RIVAL, LATER] = [CREATED_AT + 1n, 1, 2, 3] as const;
const released = settled(session, "release", NOW, attested(200n));
const cancelled = settled(session, "cancel", NOW);
const refunded = settled(session, "refund", EXPIRES_AT);

const signatureOf = (byte: number): LedgerSignature =>
  ledgerSignatureFromBytes(new Uint8Array(64).fill(byte));

/** A transaction as its bytes hold it, signed with bytes of this value. */
const transactionOf = (byte: number, instructions: ReadonlyArray<Instruction>) => {
  const { bytes } = unsignedTransaction({
    payer: party(46),
    instructions,
    blockhash: SYSTEM_PROGRAM,
  });
  for (let i = 0; i < 64 * (bytes[0] ?? 0); i++) bytes[1 + i] = byte;
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  return decoded.value;
};

/** What others did: who, and which instructions. The newest comes first, as nodes list them. */
type Others = ReadonlyArray<readonly [number, ReadonlyArray<Instruction>]>;

const entryOf = (instructions: ReadonlyArray<Instruction>): RelayEntry => {
  const { signature, bytes, feePayer } = transactionOf(OWN, instructions);
  return {
    signature,
    transaction: bytes,
    feePayer,
    lastValidBlockHeight: 1150n,
    openedAtSlot: 1995n,
    openedAtMs: 0,
    outcome: null,
  };
};

/**
 * What the relay says of a transaction that no node shows, past its life, beside an escrow and what a node lists of it.
 */
const told = (
  instructions: ReadonlyArray<Instruction>,
  escrow: Escrow | ReturnType<typeof escrowAccount>,
  others: Others = [],
  more: (script: RelayChain, signature: LedgerSignature) => void = () => undefined,
) =>
  relaying(function* (script) {
    const delivery = yield* RelayDelivery;
    const entry = entryOf(instructions);
    yield* delivery.accept(entry, null);
    script.put("data" in escrow ? escrow : escrowAccount(escrow));
    script.listed = listing(
      ...others.map(([byte]) => ({ signature: signatureOf(byte), slot: 1999n })),
      EARLIER,
    );
    for (const [byte, all] of others) script.record(inBlock(transactionOf(byte, all), 1999n));
    more(script, entry.signature);
    script.blockHeight = 1215n;
    yield* round;
    return yield* readRelayOutcome(entry.signature);
  });

const superseded = (byte: number) => ({ ...EXPIRED, supersededBy: signatureOf(byte) });

describe("a settlement that landed, and that a node leaves out of its list", () => {
  // Whoever settled, everybody can claim the rest and return the rent afterwards: that excludes no settlement.
  for (const [name, own, escrow] of [
    ["release", releases(200n), released],
    ["cancellation", [cancel], cancelled],
  ] as const)
    for (const [what, after] of [
      ["a claim of the rest", [claim]],
      ["a return of the rent", [rent]],
    ] as const)
      test(`a ${name} is not told as expired for ${what} behind it`, async () => {
        expect(await told(own, escrow, [[RIVAL, after]])).toMatchObject(PENDING);
        const account = tombstoneAccount(escrow, DEPLOYMENT.custodyProgram);
        expect(await told(own, account, [[RIVAL, after]])).toMatchObject(PENDING);
      });

  test("a refund is not told as expired for a return of rent, and beside a payment not for another claim either", async () => {
    expect(await told([claim], refunded, [[RIVAL, [rent]]])).toMatchObject(PENDING);
    expect(await told([transfer, claim], refunded, [[RIVAL, [claim]]])).toMatchObject(PENDING);
  });

  test("a capture is not told as expired for an earlier one of less", async () => {
    const escrow = captured(session, attested(300n));
    expect(await told(captures(300n), escrow, [[RIVAL, captures(200n)]])).toMatchObject(PENDING);
    // A later one of more may stand on it, so that beside a payment only one of as much excludes it.
    const more = captured(session, attested(400n));
    const own = [transfer, ...captures(300n)];
    expect(await told(own, more, [[RIVAL, captures(400n)]])).toMatchObject(PENDING);
    expect(await told(own, escrow, [[RIVAL, captures(300n)]])).toMatchObject(superseded(RIVAL));
  });

  test("a payment beside what leaves no trace is never told as expired", async () => {
    expect(await told([transfer, rent], cancelled)).toMatchObject(PENDING);
    expect(await told([transfer, claim], cancelled)).toMatchObject(PENDING);
  });
});

describe("a settlement that never landed", () => {
  test("is superseded by a transaction that did the same, and by no other", async () => {
    const others: Others = [
      [LATER, [rent]],
      [RIVAL, releases(200n)],
    ];
    expect(await told(releases(200n), released, others)).toMatchObject(superseded(RIVAL));
    expect(await told([...releases(200n), claim, rent], released, others)).toMatchObject(
      superseded(RIVAL),
    );
    expect(await told([cancel, claim, rent], released, others)).toMatchObject(EXPIRED);
    expect(await told([claim], refunded, [[RIVAL, [claim]]])).toMatchObject(superseded(RIVAL));
    const closing = closed(session, CREATED_AT);
    expect(await told([close], closing, [[RIVAL, [close]]])).toMatchObject(superseded(RIVAL));
  });

  test("a claim and a return of rent of an escrow that others settled are not told as done by the settlement", async () => {
    const others: Others = [[RIVAL, [cancel]]];
    for (const own of [[claim], [rent], [claim, rent]])
      expect(await told(own, cancelled, others)).toMatchObject(EXPIRED);
  });

  test("a capture has expired when less was released than it attests, and is superseded where as much was", async () => {
    const less = captured(session, attested(200n));
    expect(await told(captures(300n), less, [[RIVAL, captures(200n)]])).toMatchObject(EXPIRED);
    const more = captured(session, attested(400n));
    expect(
      await told(captures(300n), more, [
        [RIVAL, captures(400n)],
        [LATER, captures(200n)],
      ]),
    ).toMatchObject(superseded(RIVAL));
    const all = settled(session, "release", NOW, attested(300n));
    expect(await told(captures(300n), all, [[RIVAL, releases(300n)]])).toMatchObject(
      superseded(RIVAL),
    );
  });
});

test("a failure that only a status tells is proven by any one part that the account does not show", async () => {
  const failedAs = (script: RelayChain, signature: LedgerSignature) =>
    void script.landed.set(signature, { slot: 1999n, commitment: "finalized", error: ERROR });
  const proven = { status: "landed", commitment: "finalized", safeToSignAgain: true } as const;
  const own = [...releases(200n), claim, rent];
  expect(await told(own, session, [], failedAs)).toMatchObject(proven);
  expect(await told([claim, rent], cancelled, [], failedAs)).toMatchObject({
    status: "landed",
    commitment: "confirmed",
    safeToSignAgain: false,
  });
  expect(await told(own, released, [[RIVAL, [claim]]], failedAs)).toMatchObject({
    safeToSignAgain: false,
  });
});
