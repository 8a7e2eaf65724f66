import { Effect } from "effect";
import { archiveEscrowInstruction } from "../../../protocol/instructions/custody-instructions.ts";
import { Instance } from "../../../../ports/instance.ts";
import { checkInstructions, readSurroundings, wrongState } from "./escrow-surroundings.ts";
import { type DraftCall, finishCall } from "./finish-call.ts";
import { parseSending, type SendingRequest } from "./parse-sending.ts";
import { atArchiving } from "./settlement-draft.ts";

/**
 * The instruction that replaces an escrow by its tombstone. Anyone can send it from a week after settlement on. Fails with `WrongState`
 * before, `InvalidAddress` and `ValidationFailed` for a field of the request, and as `readEscrow` does. See docs/protocol.md,
 * "Prepare operations".
 */
export const prepareArchive = Effect.fn("prepareArchive")(function* (
  pda: string,
  request: SendingRequest,
) {
  const { deployment } = yield* Instance;
  const sending = yield* parseSending(request);
  const surroundings = yield* readSurroundings(pda, [sending.payer]);
  const { escrow, account } = surroundings;
  const instruction = archiveEscrowInstruction(deployment, {
    escrow: escrow.address,
    rentPayer: escrow.rentPayer,
    lastBytes: account.data,
  });
  const archiving = atArchiving(surroundings);
  const draft: DraftCall = {
    operation: "archive_escrow",
    instructions: [instruction],
    payouts: [],
    warnings: [],
    until: null,
    cost: { deposits: [], returnedAtSettlement: 0n, ...archiving },
    returnedToPayer: sending.payer === escrow.rentPayer ? archiving.returnedAtArchiving : 0n,
  };
  yield* checkInstructions(surroundings, draft, sending.payer);
  return yield* finishCall(draft, sending, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});
