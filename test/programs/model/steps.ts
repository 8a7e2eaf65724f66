import type { Address } from "../../../core/domain/address.ts";
import { wait, tokens, meddling, type Step } from "./around.ts";
import { type Sent, type Call, LAYOUTS } from "./call.ts";
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
import { escrowsOf, merchantsOf } from "./found.ts";
import { accountAt, changed, CONFIG, REGISTRY, type World } from "./world.ts";
import {
  type AccountRole,
  type Instruction,
  readonly,
} from "../../../core/domain/ledger/instruction.ts";
import { EXECUTABLE, SIGNERS, STRANGE } from "./cast.ts";

const withSent = (call: Call, sent: Partial<Instruction>, garbled = call.garbled): Call => ({
  ...call,
  sent: { ...call.sent, ...sent },
  garbled,
});

/** Partner programs that an upgrade authority records. Any other program would be accepted too. */
const RECORDED = new Set(["attestor_program", "custody_program"]);

const swapped = (call: Call, choices: Choices): Call => {
  const [name, { place, role }] = choices.of(Object.entries(LAYOUTS[call.name].accounts));
  // A machine that checks no signatures would let any address sign, also one that has no key.
  const pool = role === "readonlySigner" || role === "writableSigner" ? SIGNERS : STRANGE;
  const address = choices.of(pool);
  if (call.name.startsWith("initialize") && RECORDED.has(name) && EXECUTABLE.has(address))
    return call;
  const accounts = call.sent.accounts.map((meta, i) => (i === place ? { ...meta, address } : meta));
  return withSent(call, { accounts });
};

/**
 * A call that differs in one way from an honest one: another account, a missing right, other data, more or fewer
 * accounts.
 */
const deviating = (call: Call, choices: Choices): Call => {
  const { accounts, data } = call.sent;
  switch (choices.below(8)) {
    case 0: {
      const place = choices.below(accounts.length);
      const lesser = (role: AccountRole): AccountRole => (role >= 2 ? role - 2 : 0) as AccountRole;
      const dropped = accounts.map((meta, i) =>
        i === place ? { ...meta, role: lesser(meta.role) } : meta,
      );
      return withSent(call, { accounts: dropped });
    }
    case 1:
      return withSent(call, { data: Uint8Array.of(...data, 0) }, true);
    case 2:
      return withSent(call, { data: data.slice(0, choices.below(data.length)) }, true);
    case 3:
      return withSent(call, { accounts: accounts.slice(0, choices.below(accounts.length)) });
    case 4: {
      const more = Array.from({ length: choices.of([1, 31]) }, () => readonly(STRANGE[0] as never));
      return withSent(call, { accounts: [...accounts, ...more] });
    }
    default:
      return swapped(call, choices);
  }
};

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
