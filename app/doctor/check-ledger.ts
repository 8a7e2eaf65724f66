import { Clock, Effect, Layer, Logger, Redacted, Result } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import type { Deployment, ProgramPins } from "../../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../../core/domain/supported-mint.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { decodeClockSysvar } from "../../core/protocol/accounts/sysvars.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger, type LedgerFailure, ledgerFaultText } from "../../ports/ledger/ledger.ts";
import { type Cluster, clusterOfGenesis } from "../config/cluster.ts";
import type { Settings } from "../config/settings.ts";
import { checkMints } from "../check-mints.ts";
import { clusterOf, deploymentOf } from "../lifecycle/started-instance.ts";
import { WrongLedger } from "../stores/stores-of-ledger.ts";
import { askNodeAt, checkMethods } from "./check-methods.ts";
import { checkPrograms, NO_ACCOUNTS } from "./check-programs.ts";
import { takePort } from "../../adapters/http/server/serve-http.ts";
import { type Finding, finding, Problem } from "./finding.ts";

/** A ledger's time follows its validators' clocks within seconds; beyond this something is wrong. */
const MOST_SKEW_SECONDS = 60n;

/** The pool of one node with one attempt per request. Retries are for a running service. */
const ledgerAt = (url: Redacted.Redacted<URL>) =>
  ledgerSolanaRpc.pipe(
    Layer.provide(nodePool({ ...solanaRpcConfig([url]), attemptsPerNode: 1 })),
    Layer.merge(Logger.layer([])),
  );

const readClock = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { value } = yield* ledger.readAccounts([CLOCK_SYSVAR], "confirmed");
  return decodeClockSysvar(value[0] ?? null);
});

const checkGenesis = (configured: Cluster, genesisHash: string) => {
  const actual = clusterOfGenesis(genesisHash);
  return actual === configured
    ? Effect.succeed(`${genesisHash}, ${actual} as configured`)
    : Effect.fail(new WrongLedger({ configured, found: actual }));
};

const checkClock = Effect.gen(function* () {
  const time = yield* Effect.orElseSucceed(readClock, () => undefined);
  const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000));
  if (time === undefined)
    return yield* new Problem({
      message: "the node does not return the ledger's time; use another",
    });
  const ahead = now - time;
  const skew = ahead < 0n ? -ahead : ahead;
  if (skew <= MOST_SKEW_SECONDS) return `within ${skew} s of the ledger's time`;
  const cure = "set the clock (NTP), or use a node that has caught up";
  return yield* new Problem({
    message: `this machine is ${skew} s ${ahead < 0n ? "behind" : "ahead of"} the ledger's ${formatUnixTime(time)}; ${cure}`,
  });
});

/** The finding about the ledger, and its genesis hash when a node returned it. */
type LedgerFindings = {
  readonly findings: ReadonlyArray<Finding>;
  readonly genesisHash: string | null;
};

const mintsFinding = (mints: ReadonlyArray<SupportedMint>) =>
  finding(
    "mints",
    checkMints(mints).pipe(
      Effect.map(
        (there) => `${there} of ${mints.length} listed is on the ledger, with its decimals`,
      ),
      Effect.catchTags({
        LedgerUnavailable: () => Effect.fail(new Problem({ message: NO_ACCOUNTS })),
        LedgerTimeout: () => Effect.fail(new Problem({ message: NO_ACCOUNTS })),
      }),
    ),
  );

/** What is asked of each node. */
type Asked = {
  readonly cluster: Cluster;
  readonly deployment: Deployment;
  readonly pins: ProgramPins;
  readonly mints: ReadonlyArray<SupportedMint>;
};

/**
 * Asks one node who it is, what time it has and what programs and mints; `silent` says what it means when it does not
 * answer.
 */
const askNode = (
  url: Redacted.Redacted<URL>,
  { cluster, deployment, pins, mints }: Asked,
  silent: (address: string, failure: LedgerFailure) => Problem,
): Effect.Effect<LedgerFindings> =>
  Effect.gen(function* () {
    const { genesisHash: ask } = yield* Ledger;
    const address = redactedRpcAddress(Redacted.value(url));
    const reply = yield* Effect.result(ask);
    if (Result.isFailure(reply)) {
      const problem = silent(address, reply.failure);
      return { findings: [yield* finding("node", Effect.fail(problem))], genesisHash: null };
    }
    const genesisHash = reply.success;
    const findings = [
      yield* finding("node", Effect.succeed(`${address} answers`)),
      yield* finding("genesis", checkGenesis(cluster, genesisHash)),
      yield* finding("clock", checkClock),
      yield* finding("programs", checkPrograms(deployment, pins)),
      yield* finding("methods", checkMethods(askNodeAt(url), deployment)),
      ...(mints.length === 0 ? [] : [yield* mintsFinding(mints)]),
    ];
    return { findings, genesisHash };
  }).pipe(Effect.provide(ledgerAt(url)));

/**
 * Checks each remote node separately, because the service fails over between them. A running embedded ledger is asked;
 * for one that is not running, only its ports are checked.
 */
export const checkLedger = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<LedgerFindings> {
  const { ledger } = settings;
  const expected: Asked = {
    cluster: clusterOf(settings),
    deployment: deploymentOf(settings),
    pins: settings.programPins,
    mints: settings.supportedMints ?? [],
  };
  if (ledger.kind === "remote") {
    const answers = yield* Effect.forEach(ledger.rpcUrls, (url) =>
      askNode(
        url,
        expected,
        (address, { fault }) =>
          new Problem({
            message:
              fault === undefined
                ? `${address} gives no usable answer; check SOLANA_RPC_URL, its key and the network`
                : ledgerFaultText({ ...fault, node: address }),
            isUnavailable: true,
          }),
      ),
    );
    const genesisHash = answers.find((node) => node.genesisHash !== null)?.genesisHash ?? null;
    return { findings: answers.flatMap(({ findings }) => findings), genesisHash };
  }
  const { port } = ledger;
  const ports = `${port} and ${port + 1}`;
  const free = Effect.andThen(takePort("127.0.0.1", port), takePort("127.0.0.1", port + 1));
  if (port === 0 || (yield* Effect.isSuccess(free))) {
    const where = port === 0 ? "any free ports" : `ports ${ports}, which are free`;
    const text = Effect.succeed(`the embedded ledger is not running; it will take ${where}`);
    return { findings: [yield* finding("node", text)], genesisHash: null };
  }
  return yield* askNode(
    Redacted.make(new URL(`http://127.0.0.1:${port}`)),
    expected,
    () =>
      new Problem({
        message: `port ${ports} are not both free, and no ledger answers; set another LOCAL_LEDGER_PORT`,
      }),
  );
});
