import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import type { Call } from "./call.ts";
import { callOf } from "./calls.ts";
import { AGENTS, ADMINS, ATTESTORS, MERCHANTS, MINTS, PAYERS, STRANGER } from "./cast.ts";
import type { Choices } from "./choice.ts";
import { merchantsOf, chosenMerchant } from "./found.ts";
import {
  accountAt,
  ATTESTOR_DATA,
  CUSTODY_DATA,
  merchantOf,
  REGISTRY,
  type World,
  GENESIS_HASH,
} from "./world.ts";

const utf8 = new TextEncoder();
/** Characters that a name may not have, and two that it may. */
const ALONE =
  "\u0000 \u001f \u007f \u0085 \u009f \u00a0 \u202e \u2066 \u200f \u061c \u200b \u{10ffff}";
const NAMES: ReadonlyArray<Uint8Array> = [
  "Weather Data Ltd",
  "x",
  "Wetterdaten Äöü 天気",
  "a".repeat(32),
  "a".repeat(33),
  "",
  ...ALONE.split(" "),
].map((text) => utf8.encode(text));
const MALFORMED = [
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x61, 0xe2, 0x80],
];

/** `register_merchant`. */
export const register = (world: World, choices: Choices): Call => {
  const registered = merchantsOf(world);
  const open = MERCHANTS.filter((each) => !registered.includes(each));
  const wallet = open.length > 0 && !choices.seldom(3) ? choices.of(open) : choices.of(MERCHANTS);
  const names = [...NAMES, ...MALFORMED.map((each) => Uint8Array.from(each))];
  return callOf(
    "register_merchant",
    {
      payer: choices.mostly(PAYERS),
      merchant_wallet: wallet,
      merchant: merchantOf(wallet).address,
    },
    {
      attestor: choices.mostly([...ATTESTORS.map(({ address }) => address), ZERO_ADDRESS]),
      name: choices.mostly(names),
    },
  );
};

/** `rotate_attestor`. */
export const rotate = (world: World, choices: Choices): Call => {
  const wallet = chosenMerchant(world, choices);
  const { content } = accountAt(world, merchantOf(wallet).address);
  const others = ATTESTORS.map(({ address }) => address).filter(
    (each) => content.kind !== "merchant" || each !== content.attestor,
  );
  const same = content.kind === "merchant" ? content.attestor : ZERO_ADDRESS;
  return callOf(
    "rotate_attestor",
    { merchant_wallet: wallet, merchant: merchantOf(wallet).address },
    {
      attestor: choices.seldom(2) ? choices.of([same, ZERO_ADDRESS]) : choices.of(others),
      revoke: choices.mostly([0, 1, 2], 8),
    },
  );
};

const adminOf = (world: World): Address => {
  const { content } = accountAt(world, REGISTRY.address);
  return content.kind === "registry" ? content.admin : ADMINS[0];
};

/** An instruction that only the registry's admin may send. */
export const administer = (world: World, choices: Choices): Call => {
  const admin = choices.mostly([adminOf(world), ...ADMINS], 13);
  const merchant = merchantOf(chosenMerchant(world, choices)).address;
  const registry = accountAt(world, REGISTRY.address).content;
  const proposed = registry.kind === "registry" ? registry.proposedAdmin : ZERO_ADDRESS;
  switch (choices.below(6)) {
    case 0:
      return callOf(
        "slash_merchant",
        { admin, merchant },
        { points: choices.of([1, 0, 2 ** 32 - 1]) },
      );
    case 1:
      return callOf("propose_admin", { admin }, { admin: choices.of([...ADMINS, ZERO_ADDRESS]) });
    case 2: {
      const known = ADMINS.find((each) => each === proposed) ?? ADMINS[1];
      return callOf("accept_admin", { proposed_admin: choices.mostly([known, ...ADMINS], 13) }, {});
    }
    case 3:
      return callOf("set_merchant_status", { admin, merchant }, { status: choices.of([1, 0, 2]) });
    default:
      return callOf("set_merchant_status", { admin, merchant }, { status: 0 });
  }
};

/** The initialisation of one of the two programs. */
export const initialize = (choices: Choices, custody: boolean): Call => {
  const upgrade_authority = choices.mostly(ADMINS, 14);
  const by = { payer: choices.mostly(PAYERS), upgrade_authority };
  return custody
    ? callOf(
        "initialize_custody",
        { ...by, program_data: CUSTODY_DATA },
        { genesisHash: GENESIS_HASH },
      )
    : callOf(
        "initialize_registry",
        { ...by, program_data: ATTESTOR_DATA },
        { settlementMint: MINTS[0] },
      );
};

/** `record_delivery` by a caller that is not an escrow. */
export const record = (world: World, choices: Choices): Call =>
  callOf(
    "record_delivery",
    {
      escrow: choices.of([STRANGER, ...AGENTS]),
      merchant: merchantOf(chosenMerchant(world, choices)).address,
    },
    { total: choices.of([1n, 5_000_000n]) },
  );
