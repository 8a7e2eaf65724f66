import type { Address } from "../../../core/domain/address.ts";
import { RELAY_POLICY } from "../../../core/domain/relay/relay-policy.ts";
import { settlementFault } from "../../../core/protocol/rules/settlement-check.ts";
import { resolveAccounts } from "../../../core/protocol/transaction/address-table.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { programError } from "../../../core/protocol/instructions/program-errors.ts";
import type { Refusal, Sent } from "./call.ts";
import { deployedWorld } from "./cast.ts";
import type { Machine } from "./machine.ts";
import { stepFrom, worldAfter } from "./steps.ts";
import { judge } from "./transaction.ts";
import { PROGRAMS, type World } from "./world.ts";

/** How often each instruction was taken, and how often it ended in each refusal. */
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
      if (each.kind === "ed25519")
        return `ed25519 ${each.form}${each.valid ? "" : ", forged"} by ${each.key}`;
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

/** What the relay would say before it sends this; undefined where it has no objection or cannot read it. */
const precheck = (machine: Machine, world: World, bytes: Uint8Array) => {
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) return undefined;
  const accounts = resolveAccounts(decoded.value, new Map());
  if ("fault" in accounts) return undefined;
  return settlementFault(decoded.value, accounts, {
    deployment: PROGRAMS,
    ledgerTime: world.time,
    marginSeconds: RELAY_POLICY.clockMarginSeconds,
    account: (address) => {
      const account = machine.ledger.account(address);
      return account.lamports === 0n && account.data.length === 0 ? null : account;
    },
  });
};

/** Sends a transaction and compares everything with the model; the world after it. @throws Error where they differ. */
export const compared = (machine: Machine, world: World, sent: Sent, tally: Tally): World => {
  const bytes = machine.bytesOf(sent);
  const expected = judge(world, sent);
  const objection = precheck(machine, world, bytes);
  const outcome = machine.send(sent, bytes);
  const last = sent.at(-1);
  const name = last?.kind === "call" ? last.name : "ed25519";
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
 * Takes the steps that the lists of numbers choose, each on the ledger and in the model, from two deployed programs on. What the
 * ledger and the model hold must agree after each step where it wrote, and everywhere at the end. @throws Error where they differ.
 */
export const takeSteps = (
  machine: Machine,
  steps: ReadonlyArray<ReadonlyArray<number>>,
  tally: Tally = new Map(),
): World => {
  let world = deployedWorld();
  const met = new Set<Address>([...world.accounts.keys(), ...metBefore]);
  machine.load(world, metBefore);
  for (const numbers of steps) {
    const step = stepFrom(world, numbers);
    if (step.kind === "send") {
      world = compared(machine, world, step.sent, tally);
      for (const { sent } of step.sent) for (const { address } of sent.accounts) met.add(address);
      continue;
    }
    world = worldAfter(world, step);
    if (step.kind === "wait") machine.ledger.time = world.time;
    else {
      met.add(step.address);
      machine.set(step.address, step.account);
    }
    count(tally, step.kind === "wait" ? "wait" : step.what);
  }
  for (const address of world.accounts.keys()) met.add(address);
  for (const address of met) metBefore.add(address);
  const differences = machine.differences(world, met);
  if (differences.length > 0) throw new Error(`at the end:\n${differences.join("\n")}`);
  return world;
};

/** Every address that an earlier sequence may have left something at. */
const metBefore = new Set<Address>();
