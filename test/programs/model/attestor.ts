import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { SYSTEM_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { isZero, type Merchant, type Registry } from "./account.ts";
import { allocate, requirePayer } from "./custody.ts";
import { type Arguments, ATTESTOR, type Verdict } from "./call.ts";
import type { At } from "./shape.ts";
import { ATTESTOR_DATA, type Draft, merchantOf, REGISTRY } from "./world.ts";

/** The attestor program's initialisation. */
export const initializeRegistry = (
  v: Verdict,
  draft: Draft,
  at: At,
  { settlementMint }: Arguments["initialize_registry"],
): void => {
  const data = draft.at(at("program_data")).content;
  const custody = at("custody_program");
  v.require(at("system_program") === SYSTEM_PROGRAM, ATTESTOR.WrongSystemProgram);
  v.require(at("program_data") === ATTESTOR_DATA, ATTESTOR.WrongProgramData);
  if (data.kind === "programData")
    v.require(data.authority === at("upgrade_authority"), ATTESTOR.NotUpgradeAuthority);
  v.require(draft.at(custody).content.kind === "program", ATTESTOR.WrongCustodyProgram);
  v.require(at("registry") === REGISTRY.address, ATTESTOR.WrongRegistry);
  v.require(draft.at(REGISTRY.address).content.kind === "wallet", ATTESTOR.AlreadyInitialized);
  requirePayer(v, draft, at("payer"), [[REGISTRY.address, 144]]);
  if (!v.accepted) return;
  allocate(draft, at("payer"), REGISTRY.address, 144);
  const content: Registry = {
    kind: "registry",
    bump: REGISTRY.bump,
    admin: at("upgrade_authority"),
    custodyProgram: custody,
    settlementMint,
    proposedAdmin: ZERO_ADDRESS,
  };
  draft.put(REGISTRY.address, { ...draft.at(REGISTRY.address), content });
};

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Control characters, and characters that change the direction of text. */
const HIDDEN = /[\p{Cc}\p{Bidi_Control}]/u;

/** Whether bytes can be a merchant's name. */
export const isName = (bytes: Uint8Array): boolean => {
  if (bytes.length < 1 || bytes.length > 32) return false;
  try {
    return !HIDDEN.test(strictUtf8.decode(bytes));
  } catch {
    return false;
  }
};

/** `register_merchant`. */
export const registerMerchant = (
  v: Verdict,
  draft: Draft,
  at: At,
  { attestor, name }: Arguments["register_merchant"],
): void => {
  const wallet = at("merchant_wallet");
  const address = at("merchant");
  const derived = merchantOf(wallet);
  v.require(at("system_program") === SYSTEM_PROGRAM, ATTESTOR.WrongSystemProgram);
  v.require(!isZero(attestor), ATTESTOR.InvalidAttestor);
  v.require(isName(name), ATTESTOR.InvalidName);
  v.require(draft.at(at("registry")).content.kind === "registry", ATTESTOR.WrongRegistry);
  v.require(address === derived.address, ATTESTOR.WrongMerchant);
  v.require(draft.at(address).content.kind !== "merchant", ATTESTOR.MerchantExists);
  requirePayer(v, draft, at("payer"), [[address, 208]]);
  if (!v.accepted) return;
  allocate(draft, at("payer"), address, 208);
  const content: Merchant = {
    kind: "merchant",
    bump: derived.bump,
    status: 0,
    name,
    wallet,
    attestor,
    previousAttestor: ZERO_ADDRESS,
    attestorSince: draft.time,
    registeredAt: draft.time,
    updatedAt: draft.time,
    reputation: 0,
    slashes: 0,
    deliveries: 0n,
    partialDeliveries: 0n,
    volume: 0n,
    revokedSeq: 0n,
  };
  draft.put(address, { ...draft.at(address), content });
};

/** Changes the value of an account at its address. */
const rewrite = (draft: Draft, address: Address, content: Merchant | Registry): void =>
  draft.put(address, { ...draft.at(address), content });

/** `rotate_attestor`. */
export const rotateAttestor = (
  v: Verdict,
  draft: Draft,
  at: At,
  { attestor, revoke }: Arguments["rotate_attestor"],
): void => {
  const merchant = draft.at(at("merchant")).content;
  const config = draft.at(at("custody_config")).content;
  v.require(revoke <= 1, ATTESTOR.InvalidInstruction);
  v.require(draft.at(at("registry")).content.kind === "registry", ATTESTOR.WrongRegistry);
  v.require(config.kind === "config", ATTESTOR.WrongConfig);
  v.require(!isZero(attestor), ATTESTOR.InvalidAttestor);
  if (merchant.kind !== "merchant") v.require(false, ATTESTOR.WrongMerchant);
  else {
    v.require(merchant.wallet === at("merchant_wallet"), ATTESTOR.WrongMerchant);
    v.require(merchant.attestor !== attestor, ATTESTOR.InvalidAttestor);
  }
  if (!v.accepted || merchant.kind !== "merchant" || config.kind !== "config") return;
  rewrite(draft, at("merchant"), {
    ...merchant,
    previousAttestor: merchant.attestor,
    attestor,
    attestorSince: draft.time,
    updatedAt: draft.time,
    revokedSeq: revoke === 1 ? config.count - 1n : merchant.revokedSeq,
  });
};

const requireAdministered = (v: Verdict, draft: Draft, at: At): Merchant | undefined => {
  const registry = draft.at(at("registry")).content;
  const merchant = draft.at(at("merchant")).content;
  if (registry.kind !== "registry") v.require(false, ATTESTOR.WrongRegistry);
  else v.require(registry.admin === at("admin"), ATTESTOR.NotAdmin);
  v.require(merchant.kind === "merchant", ATTESTOR.WrongMerchant);
  return merchant.kind === "merchant" ? merchant : undefined;
};

/** `set_merchant_status`. */
export const setMerchantStatus = (
  v: Verdict,
  draft: Draft,
  at: At,
  { status }: Arguments["set_merchant_status"],
): void => {
  const merchant = requireAdministered(v, draft, at);
  v.require(status <= 1, ATTESTOR.InvalidStatus);
  if (v.accepted && merchant !== undefined)
    rewrite(draft, at("merchant"), { ...merchant, status, updatedAt: draft.time });
};

/** `slash_merchant`. */
export const slashMerchant = (
  v: Verdict,
  draft: Draft,
  at: At,
  { points }: Arguments["slash_merchant"],
): void => {
  const merchant = requireAdministered(v, draft, at);
  if (!v.accepted || merchant === undefined) return;
  rewrite(draft, at("merchant"), {
    ...merchant,
    reputation: Math.max(0, merchant.reputation - points),
    slashes: Math.min(merchant.slashes + 1, 2 ** 32 - 1),
    updatedAt: draft.time,
  });
};

/** `propose_admin`. */
export const proposeAdmin = (
  v: Verdict,
  draft: Draft,
  at: At,
  { admin }: Arguments["propose_admin"],
): void => {
  const registry = draft.at(at("registry")).content;
  if (registry.kind !== "registry") v.require(false, ATTESTOR.WrongRegistry);
  else v.require(registry.admin === at("admin"), ATTESTOR.NotAdmin);
  if (v.accepted && registry.kind === "registry")
    rewrite(draft, at("registry"), { ...registry, proposedAdmin: admin });
};

/** `accept_admin`. */
export const acceptAdmin = (v: Verdict, draft: Draft, at: At): void => {
  const registry = draft.at(at("registry")).content;
  const signer = at("proposed_admin");
  if (registry.kind !== "registry") v.require(false, ATTESTOR.WrongRegistry);
  else v.require(registry.proposedAdmin === signer, ATTESTOR.NotProposedAdmin);
  if (v.accepted && registry.kind === "registry")
    rewrite(draft, at("registry"), { ...registry, admin: signer, proposedAdmin: ZERO_ADDRESS });
};

/** `record_delivery` called by anyone but custody. It fails, because no wallet is an escrow. */
export const recordDelivery = (v: Verdict, draft: Draft, at: At): void => {
  v.require(draft.at(at("registry")).content.kind === "registry", ATTESTOR.WrongRegistry);
  v.require(draft.at(at("escrow")).content.kind === "escrow", ATTESTOR.WrongEscrow);
};
