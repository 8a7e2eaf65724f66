import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { decodeArchivedEscrowAccount } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import {
  decodeEscrowAccount,
  pendingEscrowBytes,
  termsIn,
  termsOf,
} from "../../../core/protocol/accounts/escrow-account.ts";
import vectors from "../../vectors/escrow-terms.json";
import { type TermsSequence, termsSequences } from "../fixture/escrow-sequences.ts";
import * as s from "../fixture/settlement.ts";
import { archived } from "../fixture/settlement-attempts.ts";

const recorded: ReadonlyArray<TermsSequence> = vectors;
const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));
const steps = recorded.flatMap(({ name, steps }) =>
  steps.map(
    (step, i) =>
      [`${name}, step ${i}, after ${step.after}`, { ...step, first: steps[0] ?? step }] as const,
  ),
);

test("the programs make the recorded accounts of each sequence", () => {
  expect(termsSequences()).toEqual([...recorded]);
});

describe.each(steps)("%s", (_, { account_base64, terms, first }) => {
  const data = bytesOf(account_base64);

  test("the account's terms are those of its creation, by its bytes and by its fields", () => {
    expect(termsIn(data) as string).toBe(terms);
    const { custodyProgram } = s.deployment;
    const decoded = decodeEscrowAccount(
      { address: s.escrow, owner: custodyProgram, data },
      s.deployment,
    );
    expect("value" in decoded && (termsOf(decoded.value) as string)).toBe(terms);
  });

  test("only what captures, a closing and a settlement write differs from the creation", () => {
    expect(pendingEscrowBytes(data)).toEqual(bytesOf(first.account_base64));
  });
});

// One process for all: a start takes longer than all the hashes.
test.skipIf(Bun.which("python3") === null)("the Python example comes to the same for each", () => {
  const script =
    "import base64, sys; from escrow_terms import terms; print(*(terms(base64.b64decode(each)).hex() for each in sys.stdin), sep='\\n')";
  const { stdout, stderr } = Bun.spawnSync(["python3", "-c", script], {
    cwd: join(import.meta.dir, "../../../examples"),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    stdin: new TextEncoder().encode(steps.map(([, each]) => `${each.account_base64}\n`).join("")),
  });
  expect(stderr.toString()).toBe("");
  expect(stdout.toString().trim().split("\n")).toEqual(steps.map(([, { terms }]) => terms));
});

test("the custody program keeps the terms in the tombstone", () => {
  const tombstone = decodeArchivedEscrowAccount(archived().account(s.escrow), s.deployment);
  expect("value" in tombstone && tombstone.value.pendingHash).toBe(s.TERMS);
});
