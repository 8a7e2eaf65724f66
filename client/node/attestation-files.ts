import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttestationJournal, KeptClaim } from "../merchant/settle/attestation-journal.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./key-file.ts";
import { placeFile } from "./file-journal.ts";

const unusable = (path: string, cause: unknown): never => {
  throw new SettlementError(
    "journal_unusable",
    `The journal ${path} cannot be used (${errorCode(cause)}).`,
    "Nothing was signed. Name a folder with --journal that you may write to.",
    { cause },
  );
};

const isText = (value: unknown): value is string => typeof value === "string";

/** The claim in a file of the journal. @throws SettlementError `journal_damaged` for anything else. */
const claimIn = (text: string, path: string): KeptClaim => {
  try {
    const kept = JSON.parse(text) as Partial<Record<keyof KeptClaim, unknown>>;
    const { version, network, escrow, terms, proof_hash: hash, total } = kept;
    if (version === 3 && [network, escrow, terms, hash, total].every(isText))
      return kept as KeptClaim;
  } catch {
    // Told below.
  }
  throw new SettlementError(
    "journal_damaged",
    `${path} holds no claim.`,
    "Nothing was signed. Restore the file from a copy: it says which proof these terms have.",
  );
};

/**
 * A journal of attestations in a folder: a file `<genesis hash>/<terms>.json` with mode 0600 for each escrow, never
 * changed once it is there. Processes may share the folder.
 * @example
 * import { attestationFiles } from "settlement-evidence/node";
 *
 * const journal = attestationFiles(folder);
 * await journal.keep(claim); // => claim
 * await journal.keep({ ...claim, payload: "another" }); // => claim
 */
export const attestationFiles = (folder: string): AttestationJournal => ({
  keep: async (claim) => {
    const path = join(folder, claim.network, `${claim.terms}.json`);
    try {
      await placeFile(path, folder, `${JSON.stringify(claim)}\n`);
      return claimIn(await readFile(path, "utf8"), path);
    } catch (cause) {
      return cause instanceof SettlementError ? Promise.reject(cause) : unusable(path, cause);
    }
  },
});
