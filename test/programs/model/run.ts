import type { Address } from "../../../core/domain/address.ts";
import { settlementFault } from "../../../core/protocol/rules/settlement-check.ts";
import { resolveAccounts } from "../../../core/protocol/transaction/address-table.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { RELAY_POLICY } from "../../../core/domain/relay/relay-policy.ts";
import { programError } from "../../../core/protocol/instructions/program-errors.ts";
import type { Refusal, Sent } from "./call.ts";
import { deployedWorld } from "./cast.ts";
import type { Machine } from "./machine.ts";
import type { Step } from "./around.ts";
import { stepFrom, worldAfter } from "./steps.ts";
import { judge } from "./transaction.ts";
import { DOMAIN, PROGRAMS, type World } from "./world.ts";

type Steps = ReadonlyArray<ReadonlyArray<number>>;

const without = (steps: Steps, at: number, count: number): Steps => [
  ...steps.slice(0, at),
  ...steps.slice(at + count),
];

/**
 * Fewer steps, and smaller numbers in them, that still fail: it leaves out groups of steps, then sets choices to the
 * first.
 */
const shrunk = (steps: Steps, fails: (steps: Steps) => boolean): Steps => {
  let least = steps;
  for (let size = Math.ceil(least.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < least.length;) {
      const fewer = without(least, at, size);
      if (fails(fewer)) least = fewer;
      else at += size;
    }
  for (const [at, numbers] of least.entries())
    for (const [i, number] of numbers.entries()) {
      if (number === 0) continue;
      const plainer = least.map((each, k) => (k === at ? each.with(i, 0) : each));
      if (fails(plainer)) least = plainer;
    }
  return least;
};

/** How often each instruction was accepted, and how often it ended in each refusal. */
export type Tally = Map<string, number>;

const count = (tally: Tally, key: string): void => {
  tally.set(key, (tally.get(key) ?? 0) + 1);
};

const named = (refusal: Refusal): string =>
  typeof refusal === "number"
    ? `${refusal} ${programError(refusal)?.name ?? "of another program"}`
    : refusal;

/** A transaction in words. */
export const described = (sent: Sent): string =>
  sent
    .map((each) => {
      if (each.kind === "ed25519") {
        const hex = each.signed.map(({ key, message }) => `${key}: ${message.toHex()}`);
        return `ed25519 ${each.form}${each.valid ? "" : ", forged"} ${hex.join(" and ")}`;
      }
      if (each.kind === "limit") return `limit of ${each.of}: ${each.value}`;
      if (each.kind === "own") return `${each.does} ${each.size} at ${each.address}`;
      const accounts = each.sent.accounts
        .map(({ address, role }) => `${address}:${role}`)
        .join(" ");
      const args = JSON.stringify(each.args, (_, value: unknown) =>
        typeof value === "bigint"
          ? String(value)
          : value instanceof Uint8Array
            ? Buffer.from(value).toString("hex")
            : value,
      );
      return `${each.name}${each.garbled ? " (garbled)" : ""} ${args} [${accounts}]`;
    })
    .join("\n  ");

/** The relay's fault for this transaction; undefined when it finds none or cannot decode it. */
const precheck = (machine: Machine, world: World, bytes: Uint8Array) => {
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) return undefined;
  const accounts = resolveAccounts(decoded.value, new Map());
  if ("fault" in accounts) return undefined;
  return settlementFault(decoded.value, accounts, {
    deployment: PROGRAMS,
    domain: DOMAIN,
    ledgerTime: world.time,
    marginSeconds: RELAY_POLICY.clockMarginSeconds,
    account: (address) => {
      const account = machine.ledger.account(address);
      return account.lamports === 0n && account.data.length === 0 ? null : account;
    },
  });
};

/**
 * Sends a transaction, compares everything with the model, and returns the world after it. @throws Error when they
 * differ.
 */
const compared = (machine: Machine, world: World, sent: Sent, tally: Tally): World => {
  const bytes = machine.bytesOf(sent);
  const expected = judge(world, sent);
  const objection = precheck(machine, world, bytes);
  const outcome = machine.send(sent, bytes);
  const index = outcome.accepted ? sent.length - 1 : outcome.index;
  const at = sent[Math.max(index, 0)];
  const name = at?.kind === "call" ? at.name : (at?.kind ?? "nothing");
  if (outcome.accepted) {
    if (!expected.accepted)
      throw new Error(
        `the ledger takes what the model refuses with ${[...expected.refusals].map(named).join(", ")}:\n  ${described(sent)}`,
      );
    if (objection !== undefined)
      throw new Error(
        `the relay refuses what the ledger takes, ${objection.rule} (${objection.detail}):\n  ${described(sent)}`,
      );
    count(tally, `${name} taken`);
    const touched = new Set<Address>(
      sent.flatMap((each) => each.sent.accounts.map(({ address }) => address)),
    );
    const differences = machine.differences(expected.after, touched);
    if (differences.length > 0)
      throw new Error(`${differences.join("\n")}\nafter\n  ${described(sent)}`);
    return expected.after;
  }
  if (expected.accepted)
    throw new Error(
      `the ledger refuses with ${named(outcome.refusal)} what the model takes:\n  ${described(sent)}\n${outcome.text()}`,
    );
  if (expected.index !== outcome.index || !expected.refusals.has(outcome.refusal))
    throw new Error(
      `instruction ${outcome.index} ends with ${named(outcome.refusal)}; the model has ${[...expected.refusals].map(named).join(", ")} for instruction ${expected.index}:\n  ${described(sent)}\n${outcome.text()}`,
    );
  count(tally, `${name} refused, ${named(outcome.refusal)}`);
  return world;
};

/**
 * Takes the steps that the lists of numbers choose, on the ledger and in the model. It starts with two deployed
 * programs. The accounts of both must agree after each step where it wrote, and everywhere at the end. @throws Error
 * when they differ.
 */
export const takeSteps = (
  machine: Machine,
  steps: ReadonlyArray<ReadonlyArray<number>>,
  tally: Tally = new Map(),
): void => {
  let world = deployedWorld();
  const met = new Set<Address>([...world.accounts.keys(), ...metBefore]);
  const done: Array<Step> = [];
  try {
    machine.load(world, metBefore);
    for (const numbers of steps) {
      const step = stepFrom(world, numbers);
      done.push(step);
      world = taken(machine, world, step, tally);
      for (const address of addressesOf(step)) met.add(address);
    }
    for (const address of world.accounts.keys()) met.add(address);
    const differences = machine.differences(world, met);
    if (differences.length > 0) throw new Error(`at the end:\n${differences.join("\n")}`);
  } catch (error) {
    const lines = done.map((step) => (step.kind === "send" ? described(step.sent) : aside(step)));
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(`${cause}\n\nThe steps:\n${lines.join("\n")}\n`, { cause: error });
  } finally {
    for (const address of met) metBefore.add(address);
  }
};

/** `takeSteps`, with a failure shrunk to few and simple steps. @throws Error when ledger and model differ. */
export const checkSteps = (
  machine: Machine,
  steps: ReadonlyArray<ReadonlyArray<number>>,
  tally: Tally,
): void => {
  try {
    takeSteps(machine, steps, tally);
  } catch {
    const fails = (fewer: ReadonlyArray<ReadonlyArray<number>>): boolean => {
      try {
        takeSteps(machine, fewer);
        return false;
      } catch {
        return true;
      }
    };
    takeSteps(machine, shrunk(steps, fails));
    throw new Error("a failure that does not repeat");
  }
};

/** Every address at which an earlier sequence may have left an account. */
const metBefore = new Set<Address>();

const addressesOf = (step: Step): ReadonlyArray<Address> => {
  if (step.kind === "wait" || step.kind === "rate") return [];
  return step.kind === "change"
    ? [step.address]
    : step.sent.flatMap((each) => each.sent.accounts.map(({ address }) => address));
};

const aside = (step: Exclude<Step, { readonly kind: "send" }>): string =>
  step.kind === "wait"
    ? `wait until ${step.until}`
    : step.kind === "rate"
      ? `rent at ${step.rate} a byte`
      : `${step.what}: ${step.address}`;

const taken = (machine: Machine, world: World, step: Step, tally: Tally): World => {
  if (step.kind === "send") return compared(machine, world, step.sent, tally);
  const after = worldAfter(world, step);
  if (step.kind === "wait") machine.ledger.time = after.time;
  else if (step.kind === "rate") machine.rate = after.rate;
  else machine.set(step.address, step.account);
  count(tally, step.kind === "change" ? step.what : step.kind);
  return after;
};
