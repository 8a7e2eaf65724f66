import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import type { Case } from "./cases.ts";
import { type CommandProcess, type Ended, startCommand } from "./command-process.ts";
import { startProxy } from "./faulty-proxy.ts";
import { MERCHANT, MINT, type Stand } from "./stand.ts";

/** The exit code that says: not known yet, run me again with the same nonce (`EX_TEMPFAIL` of sysexits.h). */
export const TRY_AGAIN = 75;
/** Runs that a client has to come to an end. */
const MOST_RUNS = 10;
const AMOUNT_UNITS = 1_500_000n;
const AMOUNT = "1.50";
const TTL = "3600";

/** What a case found: faults is empty when the client paid once. */
export type Found = {
  readonly faults: ReadonlyArray<string>;
  /** How often the client was run, and the requests that it sent. */
  readonly runs: number;
  readonly seen: ReadonlyArray<string>;
};

const describeEnd = ({ code, complaint }: Ended): string =>
  `ended with ${code ?? "a kill"}${complaint === "" ? "" : `: ${complaint.slice(-400)}`}`;

/** Runs a client through one case, each time with the same nonce, until it says that it has paid; then once more. */
export const runCase = async (
  stand: Stand,
  command: string,
  plan: Case,
  seed: number,
  trustFile: string,
): Promise<Found> => {
  const agent = localKey(`pays-once/${seed}/${plan.name}`);
  const [task, nonce] = [`GET https://api.example.com/case?of=${seed}`, `order-${seed}`];
  await stand.fund(agent.address);
  const before = await stand.holdings(agent.address);
  const running = new Set<CommandProcess>();
  const killClients = () => running.forEach((client) => client.kill());
  const proxy = await startProxy(plan, {
    service: stand.url,
    killClients,
    restartService: stand.restart,
  });
  const run = async (): Promise<Ended> => {
    const client = startCommand(command, {
      SERVICE_URL: proxy.url,
      TRUST_FILE: trustFile,
      AGENT_KEY: Buffer.from(agent.seed).toString("hex"),
      MERCHANT: MERCHANT.address,
      MINT,
      AMOUNT,
      AMOUNT_UNITS: `${AMOUNT_UNITS}`,
      TASK: task,
      NONCE: nonce,
      TTL,
    });
    running.add(client);
    const ended = await client.ended;
    running.delete(client);
    return ended;
  };

  const faults: Array<string> = [];
  const paid: Array<string> = [];
  let runs = 0;
  try {
    // The last run is of a client that has paid and does not know it.
    for (let left = plan.isTwofold ? 2 : 1; left >= 0 && faults.length === 0;) {
      const ends = await Promise.all(Array.from({ length: Math.max(1, left) }, run));
      runs += ends.length;
      for (const end of ends) {
        if (end.code === 0) paid.push(end.printed);
        else if (end.code !== null && end.code !== TRY_AGAIN) faults.push(describeEnd(end));
      }
      const done = ends.filter(({ code }) => code === 0).length;
      left -= left === 0 && done === 1 ? 1 : Math.min(done, left);
      if (runs > MOST_RUNS)
        faults.push(`not paid in ${runs} runs; the last ${ends.map(describeEnd).join(", ")}`);
    }
  } finally {
    killClients();
    await proxy.stop();
  }
  const after = await stand.holdings(agent.address);
  const expected = escrowAddress(LOCAL_DEPLOYMENT, agent.address, taskHash(task, nonce)).address;
  const debit = before.units - after.units;
  if (debit !== AMOUNT_UNITS)
    faults.push(`${debit} base units left the agent's account, not ${AMOUNT_UNITS}`);
  if (after.escrows.length !== 1)
    faults.push(`the agent has ${after.escrows.length} escrows, not one`);
  if (after.escrows.some((escrow) => escrow !== expected))
    faults.push(`${after.escrows.join(", ")} is there, not ${expected}`);
  const others = paid.filter((printed) => printed !== expected);
  if (others.length > 0) faults.push(`it printed ${others.join(", ")}, not ${expected}`);
  return { faults, runs, seen: proxy.seen };
};
