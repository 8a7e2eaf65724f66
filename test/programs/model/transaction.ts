import {
  acceptAdmin,
  initializeRegistry,
  proposeAdmin,
  registerMerchant,
  rotateAttestor,
  setMerchantStatus,
  slashMerchant,
  recordDelivery,
} from "./attestor.ts";
import { type Call, type Refusal, type Sent, Verdict } from "./call.ts";
import { archiveEscrow, createEscrow, initializeCustody, refundEscrow } from "./custody.ts";
import { releaseEscrow } from "./release.ts";
import { placesOf, type Privileges, privilegesOf, requireShape } from "./shape.ts";
import { changed, Draft, type World } from "./world.ts";

/** The model's result of a transaction. */
export type Judgement =
  | { readonly accepted: true; readonly after: World; readonly draft: Draft }
  | {
      readonly accepted: false;
      /** The index of the failing instruction, and its possible refusals. */
      readonly index: number;
      readonly refusals: ReadonlySet<Refusal>;
    };

const judgeCall = (
  v: Verdict,
  draft: Draft,
  call: Call,
  privileges: Privileges,
  before: Sent,
): void => {
  if (!requireShape(v, call, privileges)) return;
  const at = placesOf(call);
  switch (call.name) {
    case "initialize_custody":
      return initializeCustody(v, draft, at, call.args);
    case "create_escrow":
      return createEscrow(v, draft, at, call.args);
    case "release_escrow":
      return releaseEscrow(v, draft, at, call.args, privileges, before);
    case "release_partial":
      return releaseEscrow(v, draft, at, call.args, privileges, before, call.args);
    case "claim_refund":
      return refundEscrow(v, draft, at, call.args, privileges, false);
    case "cancel_escrow":
      return refundEscrow(v, draft, at, call.args, privileges, true);
    case "archive_escrow":
      return archiveEscrow(v, draft, at, call.args);
    case "initialize_registry":
      return initializeRegistry(v, draft, at, call.args);
    case "register_merchant":
      return registerMerchant(v, draft, at, call.args);
    case "rotate_attestor":
      return rotateAttestor(v, draft, at, call.args);
    case "set_merchant_status":
      return setMerchantStatus(v, draft, at, call.args);
    case "slash_merchant":
      return slashMerchant(v, draft, at, call.args);
    case "propose_admin":
      return proposeAdmin(v, draft, at, call.args);
    case "accept_admin":
      return acceptAdmin(v, draft, at);
    case "record_delivery":
      return recordDelivery(v, draft, at);
  }
};

/** The effect of a transaction on a world: all of its instructions, or nothing. */
export const judge = (world: World, sent: Sent): Judgement => {
  const draft = new Draft(world);
  const privileges = privilegesOf(sent);
  for (const [index, instruction] of sent.entries()) {
    const verdict = new Verdict();
    if (instruction.kind === "ed25519") verdict.require(instruction.valid, "precompile");
    else judgeCall(verdict, draft, instruction, privileges, sent.slice(0, index));
    if (!verdict.accepted) return { accepted: false, index, refusals: verdict.refusals };
  }
  return { accepted: true, after: changed(world, draft.changes), draft };
};
