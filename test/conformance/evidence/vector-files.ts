import { evidenceRecord } from "../../../adapters/http/evidence/evidence-contract.ts";
import { GOLDEN_ESCROWS } from "../../core/use-cases/escrow/golden-escrows.ts";
import { goldenPacket } from "../../core/use-cases/evidence/golden-packets.ts";
import { acceptingLog } from "./accepting-log.ts";
import { acceptingVectors } from "./accepting-vectors.ts";
import { instructionVectors } from "./ed25519-instruction-vectors.ts";
import { accountVectors, fieldVectors } from "./rejecting-account.ts";
import { anyValueVectors, claimVectors, decisionVectors } from "./rejecting-claim.ts";
import { callVectors } from "./call-vectors.ts";
import { equivocationVectors } from "./equivocation-vectors.ts";
import { logPolicyText } from "./log-world.ts";
import { policyVectors, trustDocument } from "./policy-vectors.ts";
import { rejectingLog } from "./rejecting-log.ts";
import { networkVectors, signatureVectors } from "./rejecting-signature.ts";
import { formVectors, versionVectors } from "./rejecting-form.ts";

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Packets that every verifier must reject under trust.json. Each has one fault. */
const rejectingVectors = () => [
  ...formVectors(),
  ...versionVectors(),
  ...signatureVectors(),
  ...networkVectors(),
  ...accountVectors(),
  ...fieldVectors(),
  ...claimVectors(),
  ...anyValueVectors(),
  ...decisionVectors(),
];

/** Every generated file of test/vectors/evidence, by its name. Each call returns the same. */
export const vectorFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ["trust.json", text(trustDocument())],
    ...GOLDEN_ESCROWS.map(
      (golden) => [`${golden.name}.json`, text(evidenceRecord(goldenPacket(golden)))] as const,
    ),
    ["accepting.json", text(acceptingVectors())],
    ["rejecting.json", text(rejectingVectors())],
    ["log-trust.json", text({ ...trustDocument(), log_on_ledger: logPolicyText() })],
    ["log-packets.json", text([...acceptingLog(), ...rejectingLog()])],
    ["policies.json", text(policyVectors())],
    ["calls.json", text(callVectors())],
    ["equivocations.json", text(equivocationVectors())],
    ["ed25519-instructions.json", text(instructionVectors())],
  ]);

// Run by itself, it writes every vector. vectors.test.ts compares the stored files with these.
if (import.meta.main)
  for (const [name, content] of vectorFiles())
    await Bun.write(new URL(`../../vectors/evidence/${name}`, import.meta.url), content);
