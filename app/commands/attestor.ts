import { join, resolve } from "node:path";
import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { policyIn } from "../../client/pinned-policy.ts";
import { usualJournal } from "../../client/bin/attest.ts";
import { exitCodeOf } from "../../client/command-line/command-line.ts";
import {
  readSigners,
  SIGNER_HELP,
  SIGNER_OPTIONS,
} from "../../client/command-line/signer-options.ts";
import { endWithNpx } from "../../client/command-line/npx-launcher.ts";
import { attestationFiles } from "../../client/node/attestation-files.ts";
import { readInput } from "../../client/node/input.ts";
import { requestsTo } from "../../client/service/requests.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { type AttestorSetup, decide } from "../../client/merchant/attestor/attestor.ts";
import { linesIn } from "../../client/merchant/attestor/judge-exchange.ts";
import { parseRules } from "../../client/merchant/attestor/rules.ts";
import { spendingCeiling } from "../../client/merchant/attestor/spending-ceiling.ts";
import {
  EX_UNAVAILABLE,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
  SERVICE_HERE,
  serviceUrl,
} from "../command-line/command-line.ts";

const HELP = `A reference attestor: judges HTTP exchanges by rules, and signs those that are a delivery. docs/merchant.md has the rules.

usage: bun run cli attestor --rules FILE --trust FILE SIGNER < exchanges.jsonl

  --rules FILE             when an exchange is a delivery, and the ceiling of what is signed
  --service URL            the service   (${SERVICE_HERE})
  --trust FILE             its trust document, fetched and checked beforehand
  --journal FOLDER         where claims and spending are kept
  --release                release what was signed; without a payer the attestor's key pays
${SIGNER_HELP}
Reads one exchange a line and prints one decision a line: signed, refused with reasons, or failed, which can be given again.
Ends with 0; 1 when something failed; 69 when that was only because the service does not answer; 64 wrong command line or rules; 66 unreadable file or key.
`;

/** Rules and trust documents are far shorter, in bytes. */
const MOST_BYTES = 1_048_576;

const OPTIONS = {
  ...SIGNER_OPTIONS,
  rules: { type: "string" },
  service: { type: "string" },
  trust: { type: "string" },
  journal: { type: "string" },
  release: { type: "boolean" },
} as const;

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, OPTIONS);
  // Its input may stay open after npx has ended. A claim that was begun is kept, as at any other end.
  await endWithNpx();

  const setup = async (): Promise<AttestorSetup> => {
    const { rules: rulesFile, trust } = values;
    if (rulesFile === undefined || trust === undefined)
      return endWith(EX_USAGE, "--rules and --trust must name files. See --help.");
    if ([rulesFile, trust, values.key, values["payer-key"]].includes("-"))
      return endWith(
        EX_USAGE,
        "Standard input is for the exchanges. Put rules and keys into files.",
      );
    const rules = parseRules(await readInput(rulesFile, "the rules", MOST_BYTES, io.stdin));
    const policy = policyIn(await readInput(trust, "the trust document", MOST_BYTES, io.stdin));
    const { signer, payer } = await readSigners(values, io);
    const folder = resolve(values.journal ?? usualJournal(io));
    return {
      context: {
        requests: requestsTo(serviceUrl(values.service ?? SERVICE_HERE)),
        policy,
        mostPriorityFee: undefined,
      },
      rules,
      ceiling: spendingCeiling(join(folder, policy.genesisHash, "spent"), rules.ceiling),
      attestor: signer,
      journal: attestationFiles(folder),
      payer: values.release === true ? (payer ?? signer) : null,
    };
  };

  try {
    const attestor = await setup();
    const failures = new Set<number>();
    for await (const line of linesIn(io.stdin)) {
      if (line.trim() === "") continue;
      const { decision, cause } = await decide(attestor, line);
      if (decision.decision === "failed")
        failures.add(cause?.code === "service_unreachable" ? EX_UNAVAILABLE : 1);
      io.stdout.write(`${foreignJson(decision)}\n`);
    }
    return Math.min(...failures, failures.size === 0 ? 0 : EX_UNAVAILABLE);
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    return endWith(exitCodeOf(cause), `${cause.message} ${cause.cure}`);
  }
};

if (import.meta.main) await runAsProcess(main);
