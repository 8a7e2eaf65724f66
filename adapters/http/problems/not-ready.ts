import { projectCommand } from "../../../core/domain/project-command.ts";
import type { NotReadyPart } from "../../../core/use-cases/service/read-readiness.ts";
import { NOT_PINNED_CURE } from "../../../core/use-cases/service/unpinned-programs.ts";

/** What is wrong, as a sentence without its full stop, and what to do about it. */
type Lack = { readonly says: string; readonly cure: string };

/** Why each part is not ready, for callers and for the operator. */
export const NOT_READY: Readonly<Record<NotReadyPart, Lack>> = {
  store: {
    says: "The store does not answer",
    cure: "Ask again shortly. If it stays so, the operator looks at the database, or at the disk of the data directory; the log says what they answer.",
  },
  ledger: {
    says: "The ledger does not answer",
    cure: `Ask again shortly. If it stays so, the operator asks the nodes (\`${projectCommand("doctor")}\`), or puts another one into SOLANA_RPC_URL.`,
  },
  identity: {
    says: "The ledger is another one than the store's, or one that was begun anew",
    cure: "The operator puts a node of the store's ledger into SOLANA_RPC_URL, or gives this ledger a store of its own.",
  },
  programs: {
    says: "The programs are not initialised for each other",
    cure: "The operator compares CUSTODY_PROGRAM_ID and ATTESTOR_PROGRAM_ID with the deployment: `/v1/status` shows both.",
  },
  domain: {
    says: "Custody's configuration was made with another genesis hash than this ledger's",
    cure: "Sign nothing for it: no attestation that is signed for this ledger releases an escrow. The operator deploys the programs on this ledger.",
  },
  pins: {
    says: "The programs' bytes on the ledger are not those that the operator pins",
    cure: `Sign nothing for it. ${NOT_PINNED_CURE}`,
  },
  index: {
    says: "The index has not been synced yet",
    cure: "Ask again shortly. If it stays so, the log and `last_error` in /v1/status say why syncs fail; a first index of millions of escrows takes its time.",
  },
};
