import { expect } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Redacted } from "effect";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import { outcomeLogSqlite } from "../../adapters/sqlite/relay/outcome-log.ts";
import { webhookRecordsSqlite } from "../../adapters/sqlite/webhook-records.ts";
import { addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { printVerifierKey, verifierKey } from "../../core/log/notes/verifier-key.ts";
import { NEVER_FAILED, type Webhook, webhookText } from "../../core/use-cases/webhook/webhook.ts";
import {
  WEBHOOK_SECRET_BYTES,
  webhookSecret,
} from "../../core/use-cases/webhook/webhook-signature.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { OutcomeLog } from "../../ports/outcome-log.ts";
import { WebhookRecords } from "../../ports/webhook-records.ts";
import { signedBase64 } from "../core/use-cases/relay/signed.ts";
import { wallet } from "../programs/fixture/wallet.ts";
import { setFull, type watchStores } from "../chaos/support/kills/opened-stores.ts";
import { WORLD_LEDGER } from "../simulation/index-of-node.ts";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { ChainNode } from "../world/chain-node.ts";
import type { RpcAnswer, RpcCall } from "../world/rpc-answer.ts";

/** How many escrows the ledger has at first. */
export const ESCROWS = 20;
const PAYER = wallet("payer");

/** What a fault can reach: the node's answers and chain, the data directory, and the stores of this process. */
export type Place = {
  readonly chain: ReturnType<typeof worldOf>;
  readonly dataDir: string;
  readonly stores: ReturnType<typeof watchStores>["opened"];
  /** Takes the node away from its address, or brings it back. */
  readonly isThere: (there: boolean) => void;
  /** Changes what the node answers; null for the truth. */
  readonly answers: (
    other: ((call: RpcCall) => RpcAnswer | Promise<RpcAnswer> | null) | null,
  ) => void;
};

/** Something that happens to a service. */
export type Fault = {
  readonly alerts: ReadonlyArray<string>;
  /** Whether it needs a file system of its own. */
  readonly mounts?: boolean;
  /** Settings that differ from a usual service's. */
  readonly settings?: (dataDir: string) => Readonly<Record<string, string>>;
  /** Happens before the start, in place of `breaks`; the service is then never seen well. */
  readonly before?: (place: Place) => unknown;
  readonly breaks?: (place: Place, url: string) => unknown;
  readonly heals?: (place: Place) => unknown;
};

const refuses =
  (answer: RpcAnswer, ...methods: ReadonlyArray<string>) =>
  ({ method }: RpcCall): RpcAnswer | null =>
    methods.includes(method) ? answer : null;
const REFUSED: RpcAnswer = { error: { code: -32_000, message: "not for you" } };

/** Puts transactions without an outcome into the relay's log, as a killed service leaves them. */
const leftRelays = async (dataDir: string, count: number, ageMs: number): Promise<void> => {
  const path = join(dataDir, "relay.sqlite");
  await mkdir(dataDir, { recursive: true });
  const openedAtMs = Date.now() - ageMs;
  await Effect.runPromise(
    Effect.provide(
      OutcomeLog.use((log) =>
        Effect.forEach(
          Array.from({ length: count }, (_, at) => at),
          (at) =>
            log.open({
              signature: ledgerSignatureFromBytes(
                new Uint8Array(64).fill(at % 256).fill(at >> 8, 0, 2),
              ),
              transaction: Uint8Array.of(1),
              feePayer: addressFromBytes(new Uint8Array(32).fill(7)),
              lastValidBlockHeight: 1_000_000_000n,
              openedAtSlot: 1n,
              openedAtMs,
              outcome: null,
            }),
          { discard: true },
        ),
      ),
      outcomeLogSqlite({ path, ...WORLD_LEDGER }),
    ),
  );
};
/** No node shows what became of a transaction. */
const hidesOutcomes = ({ answers }: Place): void =>
  answers(refuses(REFUSED, "getSignatureStatuses", "getTransaction"));

/** Refuses every write of the relay's log, or takes them again. */
const setReadOnly = (stores: Place["stores"], isReadOnly: boolean): void => {
  for (const store of stores)
    if (store.filename.endsWith("relay.sqlite"))
      store.run(`PRAGMA query_only = ${isReadOnly ? 1 : 0}`);
};

const DEAD = printVerifierKey(
  verifierKey("dead.example", "cosignature", ed25519Key(new Uint8Array(32).fill(3)).publicKey),
);
const WITH_LOG = {
  LOG_NAME: "log.example",
  LOG_SIGNING_KEY: Buffer.alloc(32, 5).toString("base64"),
};
/** A service with a log and a witness at a port where nobody listens. */
const deadWitness = (quorum: string) => ({
  settings: (dataDir: string) => ({
    ...WITH_LOG,
    LOG_WITNESSES: join(dataDir, "policy"),
  }),
  before: async ({ dataDir }: Place) => {
    await mkdir(dataDir, { recursive: true });
    await writeFile(
      join(dataDir, "policy"),
      `witness dead ${DEAD} http://127.0.0.1:9/witness\nquorum ${quorum}\n`,
    );
  },
  heals: ({ dataDir }: Place) => writeFile(join(dataDir, "policy"), "quorum none\n"),
});

const WEBHOOK = "wh_0123456789abcdef";
const withWebhooks = (
  dataDir: string,
  work: (records: WebhookRecords["Service"]) => Effect.Effect<unknown, StoreUnavailable>,
) =>
  Effect.runPromise(
    Effect.provide(
      WebhookRecords.use(work),
      webhookRecordsSqlite(join(dataDir, "webhooks.sqlite")),
    ),
  );
/** A webhook for every event whose receiver answers with a status, and has failed before as it says. */
const badReceiver = (
  alert: string,
  status: number,
  failed: Pick<Webhook, "failures" | "failingSinceMs"> = NEVER_FAILED,
): Fault => ({
  alerts: [alert],
  before: async ({ dataDir }) => {
    const receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Response(null, { status }),
    });
    receiver.unref();
    const text = webhookText({
      id: WEBHOOK,
      url: receiver.url.href,
      secret: Redacted.make(webhookSecret("hmac", new Uint8Array(WEBHOOK_SECRET_BYTES))),
      formers: [],
      merchant: null,
      agentOwner: null,
      allowPrivate: false,
      edition: 0,
      position: 0n,
      ended: null,
      ...failed,
    });
    await withWebhooks(dataDir, ({ replace }) => replace(WEBHOOK, null, text));
  },
  heals: ({ dataDir }) =>
    withWebhooks(dataDir, ({ all, replace }) =>
      Effect.flatMap(all, ([record]) => replace(WEBHOOK, record?.text ?? null, null)),
    ),
});

/** Whether the system mounts it. */
export const mount = (...args: ReadonlyArray<string>): boolean =>
  Bun.spawnSync(["mount", ...args], { stderr: "ignore" }).exitCode === 0;

/** Each fault with the alerts that it alone fires. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "nothing is behind the node's address": {
    alerts: ["LedgerNodePaused", "ServiceNotReady"],
    breaks: ({ isThere }) => isThere(false),
    heals: ({ isThere }) => isThere(true),
  },
  "the stores cannot grow": {
    alerts: ["IndexSyncFailing"],
    breaks: ({ stores, chain }) => {
      for (const store of stores) setFull(store, true);
      for (let number = ESCROWS; number < ESCROWS + 400; number++)
        chain.putEscrow(worldEscrow(number));
      chain.slot += 10n;
    },
    heals: ({ stores }) => {
      for (const store of stores) setFull(store, false);
    },
  },
  "the relay's store refuses every write while somebody relays": {
    alerts: ["RelayNotRecorded"],
    breaks: async ({ stores }, url) => {
      setReadOnly(stores, true);
      const signed_transaction = signedBase64(
        [
          registerMerchantInstruction(LOCAL_DEPLOYMENT, {
            payer: PAYER.address,
            merchant: PAYER.address,
            attestor: PAYER.address,
            name: "Weather Data Ltd",
          }),
        ],
        [PAYER],
      );
      const answer = await fetch(`${url}/v1/relay`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "one" },
        body: JSON.stringify({ signed_transaction }),
      });
      expect(answer.status).toBe(503);
    },
    heals: ({ stores }) => setReadOnly(stores, false),
  },
  "the node shows an earlier state of the ledger": {
    alerts: ["IndexHistoryContradicted", "IndexSyncFailing"],
    breaks: ({ answers, chain }) => {
      const earlier = worldOf(ESCROWS / 2);
      earlier.slot = chain.slot + 200n;
      answers(new ChainNode(earlier).answer);
    },
    heals: ({ answers, chain }) => {
      chain.slot += 1000n;
      answers(null);
    },
  },
  "the node refuses scans while the index is built": {
    alerts: ["IndexSnapshotFailing", "ServiceNotReady"],
    before: ({ answers }) => answers(refuses(REFUSED, "getProgramAccounts")),
  },
  "nobody syncs the index": {
    alerts: ["IndexBehind"],
    settings: () => ({ SYNC_INTERVAL_SECONDS: "3600" }),
    breaks: ({ chain }) => {
      chain.slot += 800n;
    },
  },
  "relays of six minutes ago have no outcome": {
    alerts: ["RelayStuck"],
    before: async (place) => {
      hidesOutcomes(place);
      await leftRelays(place.dataDir, 3, 360_000);
    },
  },
  "more relays than four fifths of the queue have no outcome": {
    alerts: ["RelayQueueFilling"],
    before: async (place) => {
      hidesOutcomes(place);
      await leftRelays(place.dataDir, 850, 0);
    },
  },
  "the quorum's witness is gone": {
    alerts: ["LogNotPublished", "WitnessCosignatureOld"],
    ...deadWitness("dead"),
  },
  "a witness beyond the quorum is gone": {
    alerts: ["WitnessCosignatureOld"],
    ...deadWitness("none"),
  },
  "a policy of witnesses is broken while the service runs": {
    alerts: ["LogPolicyRefused"],
    settings: () => WITH_LOG,
    breaks: ({ dataDir }) => writeFile(join(dataDir, "log-witnesses"), "quorum nobody\n"),
    heals: ({ dataDir }) => rm(join(dataDir, "log-witnesses")),
  },
  "no NATS server listens": {
    alerts: ["LogStreamFailing"],
    settings: () => ({ ...WITH_LOG, NATS_URL: "nats://127.0.0.1:9" }),
  },
  "the receiver of a webhook is gone": badReceiver("WebhookEnded", 410),
  "the receiver of a webhook has failed for two hours": badReceiver("WebhookFailing", 500, {
    failures: 12,
    failingSinceMs: Date.now() - 7_200_000,
  }),
  "the data directory's disk is almost full": {
    alerts: ["DiskAlmostFull"],
    mounts: true,
    before: async ({ dataDir }) => {
      await mkdir(dataDir, { recursive: true });
      expect(mount("-t", "tmpfs", "-o", "size=8m", "tmpfs", dataDir)).toBe(true);
    },
    breaks: ({ dataDir }) => {
      // Grows until a tenth and a bit less is left, whatever the stores take.
      const fill = Bun.spawnSync([
        "sh",
        "-c",
        'cd "$1" && while [ "$(df --output=pcent . | tr -dc 0-9)" -lt 92 ]; do head -c 65536 /dev/zero >>filler; done',
        "sh",
        dataDir,
      ]);
      expect(fill.exitCode).toBe(0);
    },
    heals: ({ dataDir }) => rm(join(dataDir, "filler")),
  },
};
