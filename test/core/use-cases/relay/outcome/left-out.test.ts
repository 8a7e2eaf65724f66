import { expect, test } from "bun:test";
import type { Instruction } from "../../../../../core/domain/ledger/instruction.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../../core/domain/ledger/signature.ts";
import { SYSTEM_PROGRAM } from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { archiveEscrowInstruction } from "../../../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../../../core/protocol/transaction/unsigned-transaction.ts";
import { decodeWireTransaction } from "../../../../../core/protocol/transaction/wire-transaction.ts";
import { readRelayOutcome } from "../../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../../core/use-cases/relay/relay-delivery.ts";
import {
  type RandomChoice,
  randomChoice,
  situations,
} from "../../../../programs/fixture/random-choice.ts";
import {
  randomProof,
  remakeVault,
  signersOf,
} from "../../../../programs/fixture/session-situation.ts";
import * as s from "../../../../programs/fixture/settlement.ts";
import type { TestLedger } from "../../../../programs/fixture/test-ledger.ts";
import { transferTokens } from "../../../../programs/fixture/token-instructions.ts";
import { breathe } from "../../../../programs/model/breathe.ts";
import { inBlock } from "../../../../world/scripted-chain.ts";
import { listing, round } from "../relayed-creation.ts";
import { EARLIER, relaying } from "../scripted-ledger.ts";

/** What the ledger takes once of an escrow; the others can be signed again and pay nothing twice. */
const ONCE = ["release", "cancel", "close", "archive"] as const;
const AGAIN = ["capture", "refund", "rent"] as const;
type Operation = (typeof ONCE)[number] | (typeof AGAIN)[number];
const WEEK = 604_800n;

const isWhole = (ledger: TestLedger): boolean => ledger.account(s.escrow).data.length === 416;

const callOf = (
  ledger: TestLedger,
  choice: RandomChoice,
  operation: Operation,
  lastBytes: Uint8Array,
): ReadonlyArray<Instruction> => {
  const kept = isWhole(ledger) ? {} : { lastBytes };
  switch (operation) {
    case "capture":
    case "release": {
      if (!isWhole(ledger)) return [s.cancelInstruction()];
      const isFinal = operation === "release";
      const call = isFinal ? s.releaseInstruction() : s.captureInstruction();
      return [s.proveInstruction(randomProof(ledger, choice, isFinal)), call];
    }
    case "cancel":
      return [s.cancelInstruction()];
    case "close":
      return [s.closeInstruction()];
    case "refund":
      return [s.refundInstruction(kept)];
    case "rent":
      return [s.rentInstruction(kept)];
    case "archive": {
      const target = { escrow: s.escrow, rentPayer: s.agent.address, lastBytes };
      return [archiveEscrowInstruction(s.deployment, target)];
    }
  }
};

type Sent = {
  readonly operations: ReadonlyArray<Operation>;
  readonly pays: boolean;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly signature: LedgerSignature;
  readonly landed: boolean;
};

/** Transactions of random parts, sent to the real programs one after the other. */
const sendSome = (ledger: TestLedger, choice: RandomChoice): ReadonlyArray<Sent> => {
  const sent: Array<Sent> = [];
  let lastBytes = ledger.account(s.escrow).data;
  for (let n = 1; n <= 8; n++) {
    if (isWhole(ledger)) lastBytes = ledger.account(s.escrow).data;
    const isSettled = !isWhole(ledger) || s.readEscrow(ledger).state !== "Pending";
    if (isSettled && choice.oneIn(3)) ledger.time += WEEK;
    else if (choice.oneIn(8)) ledger.time += BigInt(s.TTL_SECONDS);
    if (isSettled && choice.oneIn(2)) remakeVault(ledger, choice);
    const operations = Array.from({ length: choice.of(1, 1, 2) }, () =>
      isSettled
        ? choice.of("refund", "rent", "archive")
        : choice.of("capture", "capture", "release", "cancel", "close", "refund", "rent"),
    );
    const pays = choice.oneIn(3);
    const pay = transferTokens(s.agentTokens, s.merchantTokens, s.agent.address, 1n);
    const instructions = [
      ...(pays ? [pay] : []),
      ...operations.flatMap((each) => callOf(ledger, choice, each, lastBytes)),
    ];
    const [payer, ...others] = signersOf(instructions, s.stranger);
    const { refusal } = ledger.send(instructions, [payer, ...others]);
    const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(n));
    sent.push({ operations, pays, instructions, signature, landed: refusal === undefined });
  }
  return sent;
};

const transactionOf = ({ instructions }: Sent, byte: number) => {
  const made = unsignedTransaction({
    payer: s.stranger.address,
    instructions,
    blockhash: SYSTEM_PROGRAM,
  });
  const bytes = made.bytes.slice();
  bytes.fill(byte, 1, 1 + 64 * made.signers.length);
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  return decoded.value;
};

/** What the relay says of one of these transactions to a node that leaves it out of everything it lists. */
const toldOf = (ledger: TestLedger, sent: ReadonlyArray<Sent>, own: Sent) =>
  relaying(
    function* (script) {
      const delivery = yield* RelayDelivery;
      const { bytes, feePayer } = transactionOf(own, sent.indexOf(own) + 1);
      const entry = {
        signature: own.signature,
        transaction: bytes,
        feePayer,
        lastValidBlockHeight: 1150n,
        openedAtSlot: 1995n,
        openedAtMs: 0,
        outcome: null,
      };
      yield* delivery.accept(entry, null);
      const others = sent.filter((each) => each !== own && each.landed).toReversed();
      for (const each of others)
        script.record(inBlock(transactionOf(each, sent.indexOf(each) + 1), 1999n));
      script.listed = listing(
        ...others.map(({ signature }) => ({ signature, slot: 1999n })),
        EARLIER,
      );
      script.blockHeight = 1215n;
      yield* round;
      return yield* readRelayOutcome(own.signature);
    },
    { accounts: ledger },
  );

const COUNT = situations(40);

test(`in ${COUNT} random lives of a session no transaction that landed and could pay twice is told as expired`, async () => {
  let [expired, missing] = [0, 0];
  for (let seed = 0; seed < COUNT; seed++) {
    if (seed % 20 === 0) await breathe();
    const choice = randomChoice(seed);
    const ledger = s.sessionLedger();
    const sent = sendSome(ledger, choice);
    for (const own of sent) {
      const { status, safeToSignAgain } = await toldOf(ledger, sent, own);
      const { operations, pays, landed } = own;
      const isOnce = pays || operations.some((each) => !AGAIN.some((again) => again === each));
      if (landed && isOnce)
        expect({ seed, operations, pays, status, safeToSignAgain }).toMatchObject({
          status: "pending",
          safeToSignAgain: false,
        });
      if (!landed) missing++;
      if (!landed && status === "expired") expired++;
    }
  }
  // What never landed is mostly told: a node lists what others did.
  expect(expired).toBeGreaterThan(missing / 2);
});
