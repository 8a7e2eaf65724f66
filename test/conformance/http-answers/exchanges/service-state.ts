import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { type Exchange, get } from "../exchange.ts";
import {
  all,
  ledgerDown,
  ledgerHangs,
  ledgerSlow,
  storeDefect,
  storeDown,
} from "../world/conditions.ts";
import { Effect } from "effect";
import { ClientPackageUnavailable } from "../../../../ports/client-package.ts";
import { FULFILLED } from "../world/escrows.ts";
import { like, SHOP } from "./every-operation.ts";
import { sampleOf } from "./samples.ts";

/** The proxy's address, and the headers that it adds. */
const PROXY = "10.9.1.1";
const FORWARDED = { "x-forwarded-proto": "https", "x-forwarded-host": "evidence.example" };

const proxied: ReadonlyArray<Exchange> = [
  get("readRoot", "behind a trusted proxy", "/", { client: PROXY, headers: FORWARDED }),
  get("readRoot", "behind an untrusted proxy", "/", {
    client: "203.0.113.5",
    headers: FORWARDED,
  }),
  get("buildEvidence", "as a page: behind a trusted proxy", `/v1/evidence/${FULFILLED.address}`, {
    client: PROXY,
    headers: { ...FORWARDED, accept: "text/html" },
  }),
];

/** A request and its preflight, from a page of the configured origin and of another one. */
const fromPages = (operation: string): ReadonlyArray<Exchange> =>
  [
    ["of the configured origin", SHOP],
    ["of another origin than the configured one", "https://other.example"],
  ].flatMap(([whose = "", origin = ""]) => [
    like(operation, `from a page ${whose}`, { headers: { origin } }),
    get(operation, `a preflight from a page ${whose}`, sampleOf(operation).path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": sampleOf(operation).method },
    }),
  ]);

/** What an instance answers with another cluster, one CORS origin and a trusted proxy. */
export const otherSettingsExchanges: ReadonlyArray<Exchange> = [
  ...proxied,
  ...["readVersion", "readRoot", "prepareEscrow", "relayTransaction", "callMcp"].flatMap(fromPages),
  get("readStatus", "on devnet", "/v1/status"),
  get("readDescriptor", "on devnet", "/.well-known/settlement-evidence.json"),
  get("readRelayOutcome", "on devnet", sampleOf("readRelayOutcome").path),
  get("readClientPackage", "a build that fails", sampleOf("readClientPackage").path),
];

/** The settings of that instance. */
export const OTHER_SETTINGS = {
  corsOrigins: [SHOP],
  trustedProxies: ["10.9.0.0/16"],
  clientPackage: { bytes: Effect.fail(new ClientPackageUnavailable({ cause: "no compiler" })) },
  instance: { cluster: "devnet", networkAddress: "https://api.devnet.solana.com" },
};

/** The time limit of one part of the status. */
const PART = { forMs: 700, passMs: 700 };

const status = (title: string, more: Partial<Exchange> = {}) =>
  get("readStatus", title, "/v1/status", more);
const ready = (title: string, more: Partial<Exchange> = {}) =>
  get("readReadiness", title, "/ready", more);
const health = (title: string, more: Partial<Exchange> = {}) =>
  get("readHealth", title, "/health", more);

/** What health, readiness and status answer. */
export const serviceStateExchanges: ReadonlyArray<Exchange> = [
  health("it answers"),
  health("the ledger hangs", { given: ledgerHangs }),
  health("the caller's own request id", { headers: { "x-request-id": "A._-9" } }),
  health("an invalid request id", {
    headers: { "x-request-id": "a b" },
    masks: [[/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<a new request id>"]],
  }),
  ready("all is well"),
  ready("the ledger is down", { given: ledgerDown }),
  ready("the ledger is slow", { given: ledgerSlow }),
  ready("the ledger hangs", { given: ledgerHangs, waits: PART }),
  ready("the store is down", { given: storeDown }),
  ready("neither ledger nor store", { given: all(ledgerDown, storeDown) }),
  ready("a bug in the store", { given: storeDefect }),
  status("all is well"),
  status("the ledger is down", { given: ledgerDown }),
  status("the ledger is slow", { given: ledgerSlow }),
  status("the ledger hangs", { given: ledgerHangs, waits: PART }),
  status("the store is down", { given: storeDown }),
  status("a program that is not deployed", {
    given: ({ ledger }) => ledger.vanish(LOCAL_DEPLOYMENT.custodyProgram),
  }),
];

/** What is answered while the service shuts down. */
export const drainingExchanges: ReadonlyArray<Exchange> = [
  ready("shutting down", { given: ({ app }) => app.drain() }),
  health("shutting down"),
  get("readVersion", "shutting down", "/v1"),
  get("streamEvents", "shutting down", "/v1/indexer/events/stream?after=0", { chunks: 2 }),
];

/** The durations of requests, which differ between recordings. */
const DURATIONS = [
  [
    /^(settlement_evidence_http_request_duration_seconds_(?:bucket|sum)\b.*) \S+$/gm,
    "$1 <a duration>",
  ],
] as const;
const metrics = (title: string, given?: Exchange["given"]) =>
  get("readMetrics", title, "/metrics", {
    masks: DURATIONS,
    ...(given === undefined ? {} : { given }),
  });

/** Metrics of a service that has answered one sync and these requests. */
export const metricsExchanges: ReadonlyArray<Exchange> = [
  metrics("after a sync"),
  get("readVersion", "counted", "/v1"),
  get("readVersion", "counted: HEAD", "/v1", { method: "HEAD" }),
  get("unmatched", "counted: an unknown method", "/nothing", { method: "MKCOL" }),
  metrics("after a few requests"),
  metrics("the ledger is down", ledgerDown),
  metrics("the store is down", storeDown),
];
