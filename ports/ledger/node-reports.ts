import { Context, Effect } from "effect";

/** How one configured node has served this thread since its start. */
export type NodeReport = {
  /** Without credentials, path or query. */
  readonly address: string;
  /** Its place in the configuration, from 0. */
  readonly place: number;
  /** A moving average of what an answered request took, milliseconds; null before the first answer. */
  readonly latencyMs: number | null;
  readonly answered: number;
  /** Requests without a usable answer, by kind of fault. */
  readonly faults: ReadonlyMap<string, number>;
  /** Requests that it answered with an error of its own. */
  readonly refusals: number;
  /** Requests that another node was asked while this one came first and could not be asked. */
  readonly failovers: number;
  /** Whether a fault keeps callers away, and until it has answered again; a minute at most while nobody asks it. */
  readonly isPaused: boolean;
};

/** How each configured node has served this thread, in the order of the configuration. */
export const NodeReports = Context.Reference<Effect.Effect<ReadonlyArray<NodeReport>>>(
  "settlement-evidence/ports/NodeReports",
  { defaultValue: () => Effect.succeed([]) },
);
