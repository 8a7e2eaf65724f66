import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  ED25519_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { CUSTODY_INSTRUCTIONS } from "../../../core/protocol/generated/custody.ts";
import { readAttestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import { readEd25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  type CustodyInstructionName,
  type ProgramCall,
  readInstruction,
} from "../../../core/protocol/instructions/program-call.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import type { HttpOperations } from "../../generated/contract.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import { expectedTransaction } from "../../signing/expected-transaction.ts";
import { readEscrowTerms } from "../../merchant/settle/escrow-terms.ts";
import { ask, type MemberOf, membersOf, type ServiceCall } from "../ask.ts";
import { knownDeployment } from "../known-deployment.ts";
import { heldTo, PREPARED, type Prepared } from "../output.ts";
import { address, flag, oneOf, optional, text, type ValuesOf } from "../parameter.ts";
import { tool } from "../tool.ts";

const parameters = {
  escrow: address(),
  action: oneOf(
    ["release", "refund", "cancel", "close", "rent", "archive"],
    "refund: ended, or a settled one's rest; cancel: by the merchant's wallet; close: a session, by the agent's; rent: to its payer",
  ),
  payer: optional(address("Of the fee; signs. Needed unless cancel or close")),
  proof_hash: optional(text("release: as attested")),
  timestamp: optional(text("release: as attested")),
  attestation_signature: optional(text("release: base64")),
  amount: optional(text("release: as attested")),
  bare: optional(flag("Without refund and rent behind the settlement: when the whole fails")),
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
    "bare",
    "merchant_fallback_account",
  ],
  refund: ["bare", "agent_fallback_account"],
  cancel: ["bare"],
  close: [],
  rent: [],
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
  if (payer === undefined && action !== "cancel" && action !== "close")
    throw fault(`${action} needs payer.`, "Name the wallet that pays the fee and signs.");
};

/** The custody call of each action. */
const CALLS = {
  release: "release_escrow",
  refund: "claim_refund",
  cancel: "cancel_escrow",
  close: "close_session",
  rent: "return_rent",
  archive: "archive_escrow",
} as const satisfies { readonly [Action in Asked["action"]]: CustodyInstructionName };

/** The calls that may follow a settlement of the same escrow: the ledger gives rest and rents to their owners alone. */
const FOLLOWING: { readonly [Action in Asked["action"]]: ReadonlyArray<CustodyInstructionName> } = {
  release: ["claim_refund", "return_rent"],
  refund: ["return_rent"],
  cancel: ["claim_refund", "return_rent"],
  close: [],
  rent: [],
  archive: [],
};

/**
 * Whether these are the custody call that was asked for on this escrow, and behind it at most what may follow it, each
 * once.
 */
const areCalls = (
  calls: ReadonlyArray<ProgramCall | undefined>,
  { action, escrow, bare = false }: Asked,
): boolean => {
  const names = calls.map((call) => call?.name);
  const following = bare ? [] : FOLLOWING[action];
  const allowed = [CALLS[action], ...following.filter((name) => names.includes(name))];
  return (
    names.length === allowed.length &&
    allowed.every((name, i) => name === names[i]) &&
    calls.every((call) => call?.at("escrow" as never) === escrow)
  );
};

/** How many accounts a call of custody needs. */
const accountsOf = (call: ProgramCall | undefined): number =>
  call?.program === "custody" ? Object.keys(CUSTODY_INSTRUCTIONS[call.name].accounts).length : 0;

/** Whether an Ed25519 instruction holds the attestation that was asked for, and no other. */
const isAttestation = ({ data }: Instruction, request: Asked): boolean => {
  const form = readEd25519Instruction(data);
  const claim = form.kind === "single" && readAttestationMessage(form.attestation.message);
  return (
    form.kind === "single" &&
    claim !== undefined &&
    claim !== false &&
    claim.proofHash === request.proof_hash &&
    claim.timestamp === parseUnixTime(request.timestamp ?? "") &&
    encodeBase64(form.attestation.signature) === request.attestation_signature &&
    (request.amount === undefined || claim.total.toString() === request.amount)
  );
};

/** The account that an action may have made first: that of whom it pays. */
const PAID: { readonly [Action in Asked["action"]]: string | null } = {
  release: "merchant_token_account",
  refund: "agent_token_account",
  cancel: null,
  close: null,
  rent: null,
  archive: null,
};

/** Whether an instruction is a CreateIdempotent of the token account that `call` pays into, at the payer's cost. */
const makesPayoutAccount =
  (call: ProgramCall, { action }: Asked, payer: Address) =>
  ({ programAddress, accounts: [funder, made], data }: Instruction): boolean => {
    const paid = PAID[action];
    return (
      paid !== null &&
      programAddress === ASSOCIATED_TOKEN_PROGRAM &&
      data.length === 1 &&
      data[0] === 1 &&
      funder?.address === payer &&
      made?.address === call.at(paid as never)
    );
  };

/** What a transaction has beside the compute budget and the calls of custody that were asked for. */
type Beside = { readonly call: ProgramCall; readonly made: Instruction | undefined };

/** Whether these instructions do what was asked for, and beside it only what that needs: then what that is. */
const askedIn = (
  instructions: ReadonlyArray<Instruction>,
  request: Asked,
  { custodyProgram, payer }: { readonly custodyProgram: Address; readonly payer: Address },
): Beside | null => {
  const calls = instructions.filter(({ programAddress }) => programAddress === custodyProgram);
  const read = calls.map((each) => readInstruction(each, { custodyProgram }));
  const [call] = read;
  if (call === undefined || !areCalls(read, request)) return null;
  // Programs pass over accounts behind those that they need, so that anything could be named there.
  if (calls.some(({ accounts }, i) => accounts.length !== accountsOf(read[i]))) return null;
  const attested = instructions.filter(({ programAddress }) => programAddress === ED25519_PROGRAM);
  const others = instructions.filter((each) => !calls.includes(each) && !attested.includes(each));
  return attested.length === (request.action === "release" ? 1 : 0) &&
    attested.every((each) => isAttestation(each, request)) &&
    others.length <= 1 &&
    others.every(makesPayoutAccount(call, request, payer))
    ? { call, made: others[0] }
    : null;
};

/**
 * The agent of an escrow, whom its address proves: by what the service says of it, or by the bytes of an archived one.
 * @throws SettlementError
 */
const agentOf = async (
  escrow: Address,
  call: ProgramCall,
  policy: TrustPolicy,
  answer: ServiceCall,
): Promise<Address | null> => {
  const data = call.name === "claim_refund" ? call.args.lastBytes : new Uint8Array();
  if (data.length === 0) {
    const terms = await readEscrowTerms({ policy, requests: { answer } }, escrow);
    return terms.agentOwner;
  }
  const deployment = deploymentIn(policy);
  const decoded = decodeEscrowAccount(
    { address: escrow, owner: deployment.custodyProgram, data },
    deployment,
  );
  return "value" in decoded ? decoded.value.agentOwner : null;
};

/** Who pays the fee of a prepared transaction. */
const payerIn = (base64: string): Address | undefined => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  return "value" in decoded ? decoded.value.feePayer : undefined;
};

/**
 * A settlement that the service prepared, once it is found to do what was asked for and nothing else. It holds one
 * custody call of this action on this escrow. Beside it stand only the attestation that was given, a missing payout
 * account, the compute budget, and behind it `claim_refund` and `return_rent` of the same escrow. The custody program
 * then decides where the money goes. It looks at no account of the agent when the vault is empty, so a payout account
 * that a refund makes must be of the agent whom the escrow's address proves. The fee payer is the one that was asked
 * for; where none was, the one that the service named. @throws SettlementError `prepared_otherwise` for anything else
 */
const checkedSettlement = async (
  told: Prepared,
  request: Asked,
  policy: TrustPolicy,
  answer: ServiceCall,
): Promise<Prepared> => {
  const { custodyProgram } = deploymentIn(policy);
  const { action } = request;
  const escrow = addressNamed(request.escrow, "escrow");
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
  const found: Array<Beside> = [];
  const { bytes, signers } = expectedTransaction(told.transaction, payer, (instructions) => {
    found.push(askedIn(instructions, request, { custodyProgram, payer }) ?? refuse());
    return instructions;
  });
  for (const { call, made } of found)
    if (made !== undefined && action === "refund") {
      const owner = made.accounts[2]?.address;
      if (owner !== (await agentOf(escrow, call, policy, answer))) return refuse();
    }
  return { ...told, transaction: encodeBase64(bytes), signers: [...signers] };
};

/** `prepare_settlement`: the unsigned transaction that settles an escrow, and what can be done around that. */
export const prepareSettlement = tool({
  name: "prepare_settlement",
  description:
    "Unsigned transaction that settles an escrow, or ends, empties or archives one. Sends nothing. Decode it before you sign.",
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
    return { result: await checkedSettlement(told, request, policy, context.call) };
  },
});
