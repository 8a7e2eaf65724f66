import { describe, expect, test } from "bun:test";
import { COMPILER, hasCompiler } from "../../../programs/compile.ts";
import { KIT_RULES } from "./live-kit.ts";
import { Liveness } from "./liveness.ts";
import { committedBinaries } from "./machine.ts";
import { compileMutant, type Mutant } from "./mutants.ts";

const custody = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  program: "custody",
  file: `custody/${file}`,
  from,
  to,
});

/** The programs without one rule of docs/protocol.md, "custody". */
const VETOES: ReadonlyArray<Mutant> = [
  custody(
    "an associated account that cannot be paid stops the payment",
    "payout.h",
    "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
    "REQUIRE(is_token_account(chosen, mint, payee->wallet) && is_initialized(chosen), ERROR_PAYOUT_ACCOUNT_UNUSABLE);\n  if (0) {",
  ),
  custody(
    "an absent associated account stops the payment",
    "payout.h",
    "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
    "REQUIRE(chosen->data_len == 165, ERROR_PAYOUT_ACCOUNT_UNUSABLE);\n  if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
  ),
  custody(
    "a frozen associated account stops the payment",
    "payout.h",
    " || !is_initialized(chosen)) {",
    ") {",
  ),
  custody(
    "the agent must have an account for nothing, too",
    "claim-refund.h",
    "if (token_amount(vault) > 0) {",
    "{",
  ),
  custody(
    "a session that was closed still goes by its expiry",
    "accounts.h",
    "return escrow->closes_at ? escrow->closes_at : escrow->expires_at;",
    "return escrow->expires_at;",
  ),
  custody(
    "what is archived pays nobody",
    "accounts.h",
    "if (!is_tombstone(input, account)) {",
    "if (true) {",
  ),
  custody(
    "a tombstone keeps the rent of an escrow",
    "return-rent.h",
    "give_rent(account, account->data_len, rent_payer);",
    "give_rent(account, ESCROW_SIZE, rent_payer);",
  ),
  custody(
    "the vault of a cancelled escrow is not the agent's",
    "claim-refund.h",
    "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
    "if (loaded->data->state != ESCROW_STATE_PENDING && loaded->data->settled_by == SETTLED_BY_RELEASE) return empty_vault(input, loaded, agent_token_bump);",
  ),
  custody(
    "what is left of a release stays in the vault",
    "claim-refund.h",
    "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
    "if (loaded->data->state == ESCROW_STATE_REFUNDED) return empty_vault(input, loaded, agent_token_bump);",
  ),
];

const CASES = Number(process.env["LIVENESS_CASES"] ?? 100_000);
const SEED = Number(process.env["LIVENESS_SEED"] ?? 1);
/** Cases after which a rule that is left out counts as not noticed. */
const AT_MOST = 5000;
/** The quick run leaves out some of the rules only. */
const SOME = process.env["LIVENESS_QUICK"] === "1" ? 2 : Number.POSITIVE_INFINITY;
const AN_HOUR = 3_600_000;

const committed = await committedBinaries();

test(
  `nobody is vetoed in ${CASES} cases from ${SEED} on`,
  async () => {
    const liveness = new Liveness(committed);
    let [landed, tried] = [0, 0];
    const STEP = 1000;
    for (let done = 0; done < CASES; done += STEP) {
      const lived = await liveness.explore(SEED + done, Math.min(STEP, CASES - done));
      landed += lived.landed;
      tried += lived.tried;
      if (CASES > STEP) process.stderr.write(`${done + STEP} cases\n`);
    }
    const forms = [...liveness.ledger.longest].map(([form, bytes]) => `${form}: ${bytes}`);
    process.stdout.write(
      `${CASES} cases from ${SEED} on: ${tried} purposes, ${landed} of them by a prepared transaction, the others by somebody else's\n` +
        `longest transactions in bytes: ${forms.join("; ")}\n`,
    );
    expect(landed).toBeGreaterThan(0);
  },
  AN_HOUR,
);

const noticed = async (liveness: Liveness): Promise<string> => {
  try {
    await liveness.explore(SEED, AT_MOST);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
const firstLine = (text: string): string => text.split("\n")[0] ?? "";

test.each(KIT_RULES.slice(0, SOME))(
  "a kit without this rule is noticed: %s",
  async (rule) => {
    const found = await noticed(new Liveness(committed, [rule]));
    process.stdout.write(`without "${rule}": ${firstLine(found)}\n`);
    expect(found).not.toBe("");
  },
  AN_HOUR,
);

describe.skipIf(!hasCompiler())(
  `a program without a rule (needs clang ${COMPILER.version})`,
  () => {
    test.each(VETOES.slice(0, SOME).map((each) => [each.name, each] as const))(
      "is noticed: %s",
      async (_, mutant) => {
        const binaries = { ...committed, [mutant.program]: await compileMutant(mutant) };
        const found = await noticed(new Liveness(binaries));
        process.stdout.write(`${mutant.name}: ${firstLine(found)}\n`);
        expect(found).not.toBe("");
      },
      AN_HOUR,
    );
  },
);
