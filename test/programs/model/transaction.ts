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
import type { Address } from "../../../core/domain/address.ts";
import { lengthOf } from "./account.ts";
import { type Call, type Own, type Refusal, type Sent, Verdict } from "./call.ts";
import { createEscrow, initializeCustody } from "./custody.ts";
import { archiveEscrow, cancelEscrow, claimRefund, closeSession, returnRent } from "./refund.ts";
import { capture, releaseEscrow } from "./release.ts";
import { placesOf, type Privileges, privilegesOf, requireShape } from "./shape.ts";
import { accountAt, changed, Draft, type World } from "./world.ts";

/** The model's result of a transaction. */
export type Judgement =
  | { readonly accepted: true; readonly after: World; readonly draft: Draft }
  | {
      readonly accepted: false;
      /** The index of the failing instruction, -1 where the runtime refuses the whole, and its possible refusals. */
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
    case "capture":
      return capture(v, draft, at, call.args, privileges, before);
    case "claim_refund":
      return claimRefund(v, draft, at, call.args, privileges);
    case "cancel_escrow":
      return cancelEscrow(v, draft, at);
    case "close_session":
      return closeSession(v, draft, at);
    case "return_rent":
      return returnRent(v, draft, at, call.args);
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

/** The System program's AccountAlreadyInUse (`system_instruction.rs`). */
const IN_USE = 0;
/** What the System program gives an account at most. */
const MOST_DATA = 10 * 1024 * 1024;

/** The System program's `Allocate` and `Assign` of an account that signs. */
const judgeOwn = (v: Verdict, draft: Draft, { address, does, size }: Own): void => {
  const account = draft.at(address);
  const { content } = account;
  if (does === "allocate") {
    v.require(content.kind === "wallet" && lengthOf(content) === 0, IN_USE);
    v.require(size <= MOST_DATA, 3);
    if (v.accepted) draft.put(address, { ...account, content: { kind: "wallet", size } });
    return;
  }
  v.require(content.kind === "wallet", "runtime");
  const data = new Uint8Array(lengthOf(content));
  if (v.accepted) draft.put(address, { ...account, content: { kind: "foreign", data } });
};

/** Bytes that a transaction loads at least: an account counts 64 and its data (Agave `account_loader.rs`). */
const loadedBytes = (world: World, sent: Sent): number => {
  const named = new Set<Address>(sent.flatMap((each) => each.sent.accounts.map((a) => a.address)));
  return [...named].reduce((sum, each) => sum + 64 + lengthOf(accountAt(world, each).content), 0);
};

/**
 * Whether an account that changed has the lamports that its length needs, or has at least not more than before of what
 * it lacks.
 */
const isExempt = (draft: Draft, address: Address): boolean => {
  const [was, is] = [accountAt(draft.world, address), draft.at(address)];
  const least = draft.rent(lengthOf(is.content));
  if (is.lamports === 0n || is.lamports >= least) return true;
  const lacked = was.lamports > 0n && was.lamports < draft.rent(lengthOf(was.content));
  return lacked && lengthOf(was.content) === lengthOf(is.content) && is.lamports <= was.lamports;
};

/** The effect of a transaction on a world: all of its instructions, or nothing. */
export const judge = (world: World, sent: Sent): Judgement => {
  const draft = new Draft(world);
  const privileges = privilegesOf(sent);
  const runtime = { accepted: false, index: -1, refusals: new Set<Refusal>(["runtime"]) } as const;
  for (const each of sent)
    if (each.kind === "limit" && each.of === "loaded" && loadedBytes(world, sent) > each.value)
      return runtime;
  for (const [index, instruction] of sent.entries()) {
    const verdict = new Verdict();
    if (instruction.kind === "limit") continue;
    if (instruction.kind === "ed25519") verdict.require(instruction.valid, "precompile");
    else if (instruction.kind === "own") judgeOwn(verdict, draft, instruction);
    else judgeCall(verdict, draft, instruction, privileges, sent.slice(0, index));
    if (!verdict.accepted) return { accepted: false, index, refusals: verdict.refusals };
  }
  const exempt = [...draft.changes.keys()].every(
    (address) => draft.at(address).content.kind === "program" || isExempt(draft, address),
  );
  return exempt ? { accepted: true, after: changed(world, draft.changes), draft } : runtime;
};
