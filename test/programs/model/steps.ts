import type { Address } from "../../../core/domain/address.ts";
import { wait, tokens, meddling, type Step } from "./around.ts";
import type { Sent } from "./call.ts";
import { Choices } from "./choice.ts";
import { register, rotate, administer, initialize, record } from "./choose-attestor.ts";
import {
  archive,
  cancel,
  capture,
  close,
  create,
  refund,
  release,
  returnRent,
} from "./choose-custody.ts";
import { deviating } from "./deviate.ts";
import { escrowsOf, merchantsOf } from "./found.ts";
import { accountAt, changed, CONFIG, REGISTRY, type World } from "./world.ts";

/** The next step in a world, chosen by a list of numbers. */
export const stepFrom = (world: World, numbers: ReadonlyArray<number>): Step => {
  const choices = new Choices(numbers);
  const kind = choices.below(16);
  const around =
    kind >= 14
      ? wait(world, choices)
      : kind === 13
        ? tokens(world, choices)
        : kind === 12
          ? meddling(world, choices)
          : undefined;
  if (around !== undefined) return around;
  const sent = calls(world, choices);
  const more = choices.seldom(2)
    ? [...sent, ...calls(world, choices).filter(({ kind: each }) => each === "call")]
    : sent;
  if (!choices.seldom(4)) return { kind: "send", sent: more };
  const which = choices.below(more.length);
  return {
    kind: "send",
    sent: more.map((each, i) =>
      i === which && each.kind === "call" ? deviating(each, choices) : each,
    ),
  };
};

/** The world after a step outside the programs. */
export const worldAfter = (world: World, step: Exclude<Step, { readonly kind: "send" }>): World =>
  step.kind === "wait"
    ? { ...world, time: step.until }
    : step.kind === "rate"
      ? { ...world, rate: step.rate }
      : changed(world, new Map([[step.address, step.account]]));

const calls = (world: World, choices: Choices): Sent => {
  const isEmpty = (address: Address) => accountAt(world, address).content.kind === "wallet";
  if (isEmpty(CONFIG.address) && !choices.seldom(3)) return [initialize(choices, true)];
  if (isEmpty(REGISTRY.address) && !choices.seldom(3)) return [initialize(choices, false)];
  if (merchantsOf(world).length === 0 && !choices.seldom(3)) return [register(world, choices)];
  const which = choices.below(24);
  const settles = which >= 4 && which <= 14;
  const hasPending = escrowsOf(world).some(({ escrow }) => escrow.state === 0);
  if (settles && !hasPending && !choices.seldom(3)) return [create(world, choices)];
  switch (which) {
    case 0:
    case 1:
    case 2:
    case 3:
      return [create(world, choices)];
    case 4:
    case 5:
    case 6:
      return release(world, choices);
    case 7:
    case 8:
    case 9:
      return capture(world, choices);
    case 10:
    case 11:
      return [refund(world, choices)];
    case 12:
      return [cancel(world, choices)];
    case 13:
      return [close(world, choices)];
    case 14:
      return [...release(world, choices), refund(world, choices), returnRent(world, choices)];
    case 15:
    case 16:
      return [archive(world, choices)];
    case 17:
    case 18:
      return [returnRent(world, choices)];
    case 19:
      return [register(world, choices)];
    case 20:
      return [rotate(world, choices)];
    case 21:
      return [administer(world, choices)];
    case 22:
      return choices.seldom(8)
        ? [record(world, choices)]
        : [initialize(choices, choices.seldom(8))];
    default:
      return rotatedRelease(world, choices);
  }
};

/** One transaction in which the merchant rotates to another key, releases, and rotates back. */
const rotatedRelease = (world: World, choices: Choices): Sent => {
  const [attest, ...rest] = release(world, choices);
  const call = rest.at(-1);
  if (attest === undefined || call === undefined) return [create(world, choices)];
  return [attest, rotate(world, choices), call];
};
