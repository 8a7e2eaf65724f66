import type { SettlementChain } from "../world/settlement-chain.ts";
import type { RpcCall, RpcAnswer } from "../world/rpc-answer.ts";

/** A healthy node of one ledger, before which a hostile one stands. */
export type Backend = {
  /** The true answer. A backend that `lagSlots` behind its ledger gives the answer of that earlier slot. */
  readonly answer: (call: RpcCall, lagSlots?: number) => Promise<RpcAnswer>;
  /** Calls `listener` with each notification that a subscriber gets, until the returned function is called. */
  readonly subscribe: (
    request: RpcCall,
    listener: (notification: unknown) => void,
  ) => Promise<() => void>;
};

/** What a hostile node sends back: an answer, a whole HTTP response, or nothing for ever. */
export type Reply =
  | RpcAnswer
  | {
      readonly http: {
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body: string | Uint8Array<ArrayBuffer>;
      };
    }
  | "silence";

/** What a scenario plays with. */
export type Stage = {
  /** Numbers in [0, 1) that depend on the run's seed alone. */
  readonly random: () => number;
  readonly backend: Backend;
  /** The node of another ledger, for scenarios that change the ledger behind the address. */
  readonly foreign: Backend;
};

/** One way in which a node is hostile. */
export type Scenario = {
  /** A short name in kebab case, unique in the table. */
  readonly name: string;
  /** One sentence: what the node does. */
  readonly does: string;
  /** Whether a healthy provider may behave so: then every sync must succeed while it lasts. */
  readonly isUsual: boolean;
  /** Whether its history shows changes of merchants late or never, so that a later sync or a scan finds them. */
  readonly hidesMerchants?: true;
  /** How many slots its backends lag at most, where they do. */
  readonly lagSlots?: number;
  /** Changes the simulated ledger before the first request. */
  readonly prepare?: (world: SettlementChain, random: () => number) => void;
  /** The answers of one node. Called once a run, so it may keep state. */
  readonly play: (stage: Stage) => (call: RpcCall) => Reply | Promise<Reply>;
  /** The notifications that the node sends instead of a true one. By default the true one. */
  readonly notify?: (stage: Stage) => (notification: unknown) => ReadonlyArray<unknown>;
};
