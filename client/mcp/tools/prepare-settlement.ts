import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  ED25519_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { readInstruction } from "../../../core/protocol/instructions/program-call.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import type { HttpOperations } from "../../generated/contract.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import { expectedTransaction } from "../../signing/expected-transaction.ts";
import { ask, type MemberOf, membersOf } from "../ask.ts";
import { knownDeployment } from "../known-deployment.ts";
import { heldTo, PREPARED, type Prepared } from "../output.ts";
import { address, oneOf, optional, text, type ValuesOf } from "../parameter.ts";
import { tool } from "../tool.ts";

const parameters = {
  escrow: address(),
  action: oneOf(
    ["release", "refund", "cancel", "archive"],
    "refund: expired; cancel: by the merchant's wallet",
  ),
  payer: optional(address("Of the fee; signs. Needed unless cancel")),
  proof_hash: optional(text("release: as attested")),
  timestamp: optional(text("release: as attested")),
  attestation_signature: optional(text("release: base64")),
  amount: optional(text("release: as attested")),
  merchant_fallback_account: optional(address()),
  agent_fallback_account: optional(address()),
} as const;

/** A settlement as the caller asked for it. */
type Asked = ValuesOf<typeof parameters>;
type Argument = keyof typeof parameters;

/** The arguments that an action's operation takes in its body. */
type TakenBy<Action extends Asked["action"]> = {
  [
    Name in Argument
  ]: MemberOf<Name> extends keyof HttpOperations[`POST /v1/escrows/{pda}/${Action}/prepare`]["body"]
    ? Name
    : never;
}[Argument];

/** The arguments that each action takes besides escrow, action and payer. */
const TAKEN = {
  release: [
    "proof_hash",
    "timestamp",
    "attestation_signature",
    "amount",
    "merchant_fallback_account",
    "agent_fallback_account",
  ],
  refund: ["agent_fallback_account"],
  cancel: ["agent_fallback_account"],
  archive: [],
} as const satisfies {
  readonly [Action in Asked["action"]]: ReadonlyArray<TakenBy<Action>>;
};
const NEEDED_BY_RELEASE = ["proof_hash", "timestamp", "attestation_signature"] as const;

const fault = (detail: string, cure: string): SettlementError =>
  new SettlementError("validation_failed", detail, cure);

/** Requires what an action needs and nothing that only another one takes. @throws SettlementError */
const requireTaken = (given: Asked): void => {
  const { escrow: _, action, payer, ...rest } = given;
  const taken: ReadonlyArray<string> = TAKEN[action];
  const other = Object.keys(rest).filter((name) => !taken.includes(name));
  if (other.length > 0)
    throw fault(`${action} does not take ${other.join(", ")}.`, "Leave it out, and call again.");
  const missing =
    action === "release" ? NEEDED_BY_RELEASE.filter((name) => given[name] === undefined) : [];
  if (missing.length > 0)
    throw fault(
      `release needs ${missing.join(", ")}.`,
      "Have the attestor sign the message of prepare_attestation, and give what it says.",
    );
  if (payer === undefined && action !== "cancel")
    throw fault(`${action} needs payer.`, "Name the wallet that pays the fee and signs.");
};

const callOf = ({ action, amount }: Asked) => {
  switch (action) {
    case "release":
      return amount === undefined ? "release_escrow" : "release_partial";
    case "refund":
      return "claim_refund";
    case "cancel":
      return "cancel_escrow";
    case "archive":
      return "archive_escrow";
  }
};

/** Whether an instruction is a CreateIdempotent of a token account that `call` names, paid for by `payer`. */
const makesPayoutAccount =
  (call: Instruction, payer: Address) =>
  ({ programAddress, accounts: [funder, made], data }: Instruction): boolean =>
    programAddress === ASSOCIATED_TOKEN_PROGRAM &&
    data.length === 1 &&
    data[0] === 1 &&
    funder?.address === payer &&
    call.accounts.some(({ address }) => address === made?.address);

/** Whether these instructions are the one custody call that was asked for, and beside it only what that call needs. */
const isAsked = (
  instructions: ReadonlyArray<Instruction>,
  request: Asked,
  { custodyProgram, payer }: { readonly custodyProgram: Address; readonly payer: Address },
): boolean => {
  const name = callOf(request);
  const [call, ...others] = instructions.filter(
    ({ programAddress }) => programAddress === custodyProgram,
  );
  const read = call && readInstruction(call, { custodyProgram });
  if (call === undefined || others.length > 0 || read?.name !== name) return false;
  if (read.name === "release_partial" && read.args.amount.toString() !== request.amount)
    return false;
  if (read.at("escrow") !== request.escrow) return false;
  const isNeeded = makesPayoutAccount(call, payer);
  return instructions.every(
    (each) =>
      each === call ||
      isNeeded(each) ||
      (request.action === "release" && each.programAddress === ED25519_PROGRAM),
  );
};

/** Who pays the fee of a prepared transaction. */
const payerIn = (base64: string): Address | undefined => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  return "value" in decoded ? decoded.value.feePayer : undefined;
};

/**
 * A settlement that the service prepared, once it is found to do what was asked for and nothing else. It holds one
 * custody call of this action on this escrow. Beside it stand only the attestation, missing payout accounts and the
 * compute budget. The custody program then decides where the money goes. The fee payer is the one that was asked for;
 * where none was, the one that the service named. @throws SettlementError `prepared_otherwise` for anything else
 */
const checkedSettlement = (told: Prepared, request: Asked, policy: TrustPolicy): Prepared => {
  const { custodyProgram } = deploymentIn(policy);
  const { action, escrow } = request;
  const refuse = (): never => {
    throw new SettlementError(
      "prepared_otherwise",
      `The service prepared something else than the ${action} of ${escrow} alone.`,
      "Sign nothing of it, and do not use this service before its operator has explained it.",
    );
  };
  const payer =
    request.payer === undefined ? payerIn(told.transaction) : addressNamed(request.payer, "payer");
  if (told.escrow !== escrow || payer === undefined) return refuse();
  const { bytes, signers } = expectedTransaction(told.transaction, payer, (instructions) =>
    isAsked(instructions, request, { custodyProgram, payer }) ? instructions : refuse(),
  );
  return { ...told, transaction: encodeBase64(bytes), signers: [...signers] };
};

/** `prepare_settlement`: the unsigned transaction that settles an escrow, or archives a settled one. */
export const prepareSettlement = tool({
  name: "prepare_settlement",
  description:
    "Unsigned transaction that releases, refunds, cancels or archives an escrow. Sends nothing. Decode it before you sign.",
  parameters,
  output: PREPARED,
  run: async (request, context) => {
    requireTaken(request);
    const { action, ...given } = request;
    const operation = `POST /v1/escrows/{pda}/${action}/prepare?transaction=true` as const;
    // `TAKEN` has held them to the action, and the compiler holds `TAKEN` to the contract.
    const taken = membersOf(given) as never;
    const told = heldTo(PREPARED, await ask(context.call, operation, taken));
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    return { result: checkedSettlement(told, request, policy) };
  },
});
