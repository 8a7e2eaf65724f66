import { SettlementError } from "../../settlement-error.ts";
import { checkedSettlement } from "../rebuilt.ts";
import { knownDeployment } from "../known-deployment.ts";
import { heldTo, PREPARED } from "../output.ts";
import { address, oneOf, optional, text, type ValuesOf } from "../parameter.ts";
import { answerOf, tool } from "../tool.ts";

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
} as const satisfies Readonly<Record<string, ReadonlyArray<keyof typeof parameters>>>;
const NEEDED_BY_RELEASE = ["proof_hash", "timestamp", "attestation_signature"] as const;

const fault = (detail: string, cure: string): SettlementError =>
  new SettlementError("validation_failed", detail, cure);

/** The body of an action's operation. @throws SettlementError for arguments that are missing or belong to another action. */
const bodyOf = (given: ValuesOf<typeof parameters>): object => {
  const { escrow: _, action, payer, amount, ...rest } = given;
  const taken: ReadonlyArray<string> = TAKEN[action];
  const other = Object.keys({ ...rest, ...(amount === undefined ? {} : { amount }) }).filter(
    (name) => !taken.includes(name),
  );
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
  return {
    ...rest,
    ...(amount === undefined ? {} : { amount_stroops: amount }),
    ...(payer === undefined ? {} : { payer }),
  };
};

/** `prepare_settlement`: the unsigned transaction that settles an escrow, or archives a settled one. */
export const prepareSettlement = tool({
  name: "prepare_settlement",
  description:
    "Unsigned transaction that releases, refunds, cancels or archives an escrow. Sends nothing. Decode it before you sign.",
  parameters,
  output: PREPARED,
  run: async (given, context) => {
    const prepared = await answerOf(
      context.call,
      `/v1/escrows/${given.escrow}/${given.action}/prepare?transaction=true`,
      { body: bodyOf(given) },
    );
    const told = heldTo(PREPARED, prepared);
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    return { result: checkedSettlement(told, given, policy) };
  },
});
