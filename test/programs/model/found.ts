import type { Address } from "../../../core/domain/address.ts";
import { ESCROWS, MERCHANTS } from "./cast.ts";
import type { Choices } from "./choice.ts";
import { accountAt, merchantOf, type World } from "./world.ts";

/** The escrows of a world, archived ones left out. */
export const escrowsOf = (world: World) =>
  ESCROWS.flatMap(({ address }) => {
    const { content } = accountAt(world, address);
    return content.kind === "escrow" ? [{ address, escrow: content }] : [];
  });

/** The archived escrows of a world. */
export const tombstonesOf = (world: World) =>
  ESCROWS.flatMap(({ address, agent }) => {
    const { content } = accountAt(world, address);
    return content.kind === "tombstone" ? [{ address, agent, tombstone: content }] : [];
  });

/** The wallets that are registered as merchants. */
export const merchantsOf = (world: World) =>
  MERCHANTS.filter(
    (each) => accountAt(world, merchantOf(each).address).content.kind === "merchant",
  );

/** A merchant's wallet, mostly one that is registered. */
export const chosenMerchant = (world: World, choices: Choices): Address => {
  const registered = merchantsOf(world);
  return registered.length > 0 && !choices.seldom(1)
    ? choices.of(registered)
    : choices.of(MERCHANTS);
};
