import { Effect } from "effect";
import { ClientPackageUnavailable } from "../../../../ports/client-package.ts";
import { type Exchange, get } from "../exchange.ts";
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
