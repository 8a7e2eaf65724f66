import type { Layer } from "effect";
import {
  evidenceSignerFromFile,
  evidenceSignerFromText,
  evidenceSignerGenerated,
  evidenceSignerNone,
} from "../adapters/signer/evidence-signer.ts";
import type { EvidenceKeyUnusable, EvidenceSigner } from "../ports/evidence-signer.ts";
import type { StartedInstance } from "./lifecycle/started-instance.ts";

/**
 * Signs evidence with the configured key. One is generated only for play money; otherwise the operator must configure
 * one.
 */
export const evidenceSigner = ({
  settings,
  dataDir,
}: Pick<StartedInstance, "settings" | "dataDir">): Layer.Layer<
  EvidenceSigner,
  EvidenceKeyUnusable
> => {
  const { evidenceKey, evidenceKeyFile, evidenceRetiredKeys, ledger } = settings;
  if (evidenceKey !== null) return evidenceSignerFromText(evidenceKey, evidenceRetiredKeys);
  if (evidenceKeyFile !== null) return evidenceSignerFromFile(evidenceKeyFile, evidenceRetiredKeys);
  return ledger.kind === "embedded"
    ? evidenceSignerGenerated(dataDir, evidenceRetiredKeys)
    : evidenceSignerNone(evidenceRetiredKeys);
};

/** The keys that sign or have signed evidence, for the comparison with the other keys. */
export const evidenceKeys = ({ current, former }: EvidenceSigner["Service"]) => [
  ...(current === null ? [] : [{ setting: "the evidence key", publicKey: current.publicKey }]),
  ...former.map(({ publicKey }) => ({ setting: "EVIDENCE_RETIRED_KEYS", publicKey })),
];
