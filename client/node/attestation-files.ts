import process from "node:process";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AttestationJournal, KeptClaim } from "../merchant/attestation-journal.ts";
import { SettlementError } from "../settlement-error.ts";
import { codeOf } from "./error-code.ts";

const MODE = 0o600;
const FOLDER_MODE = 0o700;

const unusable = (path: string, cause: unknown): never => {
  throw new SettlementError(
    "journal_unusable",
    `The journal ${path} cannot be used (${codeOf(cause)}).`,
    "Nothing was signed. Name a folder with --journal that you may write to.",
    { cause },
  );
};

const isText = (value: unknown): value is string => typeof value === "string";

/** The claim in a file of the journal. @throws SettlementError `journal_damaged` for anything else. */
const claimIn = (text: string, path: string): KeptClaim => {
  try {
    const kept = JSON.parse(text) as Partial<Record<keyof KeptClaim, unknown>>;
    const { version, network, escrow, proof_hash: hash, amount_stroops: amount } = kept;
    if (version === 1 && isText(network) && isText(escrow) && isText(hash) && amount !== undefined)
      return kept as KeptClaim;
  } catch {
    // Told below.
  }
  throw new SettlementError(
    "journal_damaged",
    `${path} holds no claim.`,
    "Nothing was signed. Restore the file from a copy: it says which proof this escrow has.",
  );
};

/** Waits until a folder's entries are on disk. Windows opens no folders, and needs no such call. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/**
 * Writes a claim at `path` unless there is a file. The file appears complete and on disk, or not at all: a hard link refuses a name that is
 * taken, and of two processes one gets it.
 */
const placeFirst = async (path: string, claim: KeptClaim): Promise<void> => {
  const draft = `${path}.${crypto.randomUUID()}.new`;
  const file = await open(draft, "wx", MODE);
  try {
    await file.writeFile(`${JSON.stringify(claim)}\n`);
    await file.sync();
    await link(draft, path).catch((cause: unknown) => {
      if (codeOf(cause) !== "EEXIST") throw cause;
    });
  } finally {
    await file.close();
    await unlink(draft);
  }
};

/**
 * A journal of attestations in a folder: a file `<genesis hash>/<escrow>.json` with mode 0600 for each escrow, never changed once it is
 * there. Processes may share the folder.
 */
export const attestationFiles = (folder: string): AttestationJournal => ({
  keep: async (claim) => {
    const path = join(folder, claim.network, `${claim.escrow}.json`);
    try {
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      await placeFirst(path, claim);
      // Also before a claim of another process is believed: it may not have come so far.
      for (const each of [dirname(path), folder, dirname(folder)]) await syncFolder(each);
      return claimIn(await readFile(path, "utf8"), path);
    } catch (cause) {
      return cause instanceof SettlementError ? Promise.reject(cause) : unusable(path, cause);
    }
  },
});
