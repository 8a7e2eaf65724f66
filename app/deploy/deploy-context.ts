import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { ClusterRpc } from "./cluster/cluster-rpc.ts";
import type { DeployKey } from "./inputs/deploy-key.ts";
import { DeployStopped } from "./deploy-stopped.ts";
import type { ProgramName } from "./programs/program-buffer.ts";
import { MOST_UNITS } from "./cluster/priority-fee.ts";
import { sendTransactions, type Unsent } from "./cluster/send-transactions.ts";

/** What every step of a deployment works with. */
export type DeployContext = {
  readonly rpc: ClusterRpc;
  /** Pays for everything and is the upgrade authority of both programs. */
  readonly payer: DeployKey;
  readonly say: (line: string) => void;
  /** The price that every transaction offers, in micro-lamports for each compute unit. */
  readonly priorityFee: bigint;
};

/** A program to deploy: its address, and its key unless the program is there already. */
export type ProgramTarget = {
  readonly name: ProgramName;
  readonly address: Address;
  readonly key: DeployKey | undefined;
};

/** The deployment that two targets are. */
export const deploymentOf = (targets: ReadonlyArray<ProgramTarget>): Deployment => {
  const of = (name: ProgramName): Address => {
    const target = targets.find((each) => each.name === name);
    if (target === undefined) throw new Error(`no target for ${name}`);
    return target.address;
  };
  return { custodyProgram: of("custody"), attestorProgram: of("attestor") };
};

const SHOWN_LOGS = 4;

/**
 * Sends one transaction until it has landed. Returns false when it can no longer land, so that the caller looks at the
 * ledger anew. @throws DeployStopped, with the end of the program's log, when the ledger refuses it.
 */
export const landed = async (
  { rpc, payer, priorityFee }: Pick<DeployContext, "rpc" | "payer" | "priorityFee">,
  what: string,
  unsent: Unsent,
): Promise<boolean> => {
  const [ending] = await sendTransactions(rpc, payer, [unsent], {
    skipPreflight: false,
    price: priorityFee,
    units: MOST_UNITS,
  });
  if (ending === undefined || ending.kind === "expired") return false;
  if (ending.kind === "landed") return true;
  throw new TransactionRefused(what, ending.error, ending.logs);
};

/** The ledger refused a transaction. */
export class TransactionRefused extends DeployStopped {
  readonly error: unknown;

  constructor(what: string, error: unknown, logs: ReadonlyArray<string>) {
    const end = logs.slice(-SHOWN_LOGS).join("; ");
    super(
      1,
      `${what}: the ledger refuses it with ${JSON.stringify(error)}${end === "" ? "" : ` (${end})`}`,
    );
    this.error = error;
  }
}
