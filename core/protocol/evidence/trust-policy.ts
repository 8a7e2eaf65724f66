import type { Json } from "../../domain/encoding/canonical-json.ts";
import { decodeBase64Url } from "../../domain/encoding/base64.ts";
import { TRUST_VERSION, type TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { jwkThumbprint } from "../../domain/evidence/evidence-signature.ts";
import { isMintSymbol, type SupportedMint } from "../../domain/supported-mint.ts";
import { type Hash32, parseHash32 } from "../../domain/hash32.ts";
import {
  addressIn,
  arrayIn,
  fail,
  formOf,
  type JsonObject,
  objectIn,
  oneOfIn,
  readStrictDocument,
  textIn,
  wholeIn,
} from "./strict-document.ts";
import { trustedLogsOf } from "../verification/trusted-logs.ts";

/** The largest document in bytes: twice what 2,000 retired keys need. */
const MAX_BYTES = 1_048_576;

const WHAT = "the trust policy";
const MEMBERS = [
  "version",
  "jwks",
  "genesis_hash",
  "cluster",
  "custody_program",
  "attestor_program",
  "supported_mints",
  "log_on_ledger",
  "log_append_only",
];
const PIN_MEMBERS = ["custody_program_sha256", "attestor_program_sha256"];
const KEY_MEMBERS = ["kty", "crv", "alg", "use", "kid", "x", "status"];
const STATUSES = ["current", "retired", "revoked"] as const;

/** IANA's registry "JSON Web Key Types", and the curves of OKP that are not Ed25519. */
const OTHER_TYPES: ReadonlySet<string> = new Set(["AKP", "EC", "RSA", "oct"]);
const OTHER_CURVES: ReadonlySet<Json | undefined> = new Set(["Ed448", "X25519", "X448"]);

/**
 * Whether a key is of a registered type that signs no packet. Nothing else of such a key is checked. A type
 * that is not registered is a fault, because ignoring the key could ignore its revocation.
 */
const isOfOtherType = (kty: string, crv: Json | undefined): boolean =>
  OTHER_TYPES.has(kty) || (kty === "OKP" && OTHER_CURVES.has(crv));

const keysOf = (value: Json): TrustPolicy["keys"] => {
  const what = `a key of ${WHAT}`;
  const open = objectIn(value, what);
  if (isOfOtherType(textIn(open["kty"], `${what}: kty`), open["crv"])) return [];
  const key = objectIn(open, what, KEY_MEMBERS, ["exp"]);
  oneOfIn(key["kty"], `${what}: kty`, ["OKP"]);
  oneOfIn(key["crv"], `${what}: crv`, ["Ed25519"]);
  oneOfIn(key["alg"], `${what}: alg`, ["Ed25519"]);
  oneOfIn(key["use"], `${what}: use`, ["sig"]);
  if (Object.hasOwn(key, "exp")) wholeIn(key["exp"], `${what}: exp`, Number.MAX_SAFE_INTEGER);
  const x = textIn(key["x"], `${what}: x`);
  const publicKey = decodeBase64Url(x);
  if (publicKey?.length !== 32) return fail(`${what}: x is not 32 bytes in base64url`);
  const kid = textIn(key["kid"], `${what}: kid`);
  if (kid !== jwkThumbprint(publicKey)) return fail(`${what}: kid is not the thumbprint of x`);
  return [{ kid, x, status: oneOfIn(key["status"], `${what}: status`, STATUSES) }];
};

const supportedMint = (value: Json): SupportedMint => {
  const what = `a mint of ${WHAT}`;
  const mint = objectIn(value, what, ["address", "decimals", "symbol"]);
  const symbol = textIn(mint["symbol"], `${what}: symbol`);
  if (!isMintSymbol(symbol)) fail(`${what}: symbol is not 1 to 16 printable ASCII characters`);
  return {
    address: addressIn(mint["address"], `${what}: address`),
    decimals: wholeIn(mint["decimals"], `${what}: decimals`, 255),
    symbol,
  };
};

const pinIn = (value: Json, what: string): Hash32 => {
  const text = textIn(value, what);
  const hash = parseHash32(text);
  return hash === text ? hash : fail(`${what} is not 32 bytes in small hex digits`);
};

/** The hashes in a member that may be absent. An empty list would read as if nothing were pinned, so it is refused. */
const pinsIn = (policy: JsonObject, member: string): ReadonlyArray<Hash32> => {
  if (!Object.hasOwn(policy, member)) return [];
  const what = `${WHAT}: ${member}`;
  const hashes = arrayIn(policy[member], what).map((each) => pinIn(each, `a hash of ${what}`));
  return hashes.length > 0 ? hashes : fail(`${what} is empty`);
};

const notEmpty = (value: Json | undefined, what: string): string =>
  textIn(value, what) || fail(`${what} is empty`);

/** The two policies of the log as they stand in the document; null for none. */
const logsIn = (
  policy: JsonObject,
  keys: TrustPolicy["keys"],
): Pick<TrustPolicy, "logOnLedger" | "logAppendOnly"> => {
  const read = (member: "log_on_ledger" | "log_append_only"): string | null =>
    policy[member] === null ? null : textIn(policy[member], `${WHAT}: ${member}`);
  const logs = { logOnLedger: read("log_on_ledger"), logAppendOnly: read("log_append_only") };
  const parsed = trustedLogsOf({ keys, ...logs });
  return "fault" in parsed ? fail(`${WHAT}: ${parsed.fault}`) : logs;
};

const policyOf = (document: Json): TrustPolicy => {
  const open = objectIn(document, WHAT);
  if (Object.hasOwn(open, "version") && open["version"] !== TRUST_VERSION)
    fail(`${WHAT} is of another version than ${TRUST_VERSION}, the one that is known`);
  const policy = objectIn(open, WHAT, MEMBERS, PIN_MEMBERS);
  const jwks = objectIn(policy["jwks"], `${WHAT}: jwks`, ["keys"]);
  const mints = arrayIn(policy["supported_mints"], `${WHAT}: supported_mints`).map(supportedMint);
  if (new Set(mints.map(({ address }) => address)).size < mints.length)
    fail(`${WHAT}: supported_mints names a mint twice`);
  const keys = arrayIn(jwks["keys"], `${WHAT}: jwks.keys`).flatMap(keysOf);
  return {
    keys,
    genesisHash: addressIn(policy["genesis_hash"], `${WHAT}: genesis_hash`),
    cluster: notEmpty(policy["cluster"], `${WHAT}: cluster`),
    custodyProgram: addressIn(policy["custody_program"], `${WHAT}: custody_program`),
    attestorProgram: addressIn(policy["attestor_program"], `${WHAT}: attestor_program`),
    supportedMints: mints,
    programPins: {
      custody: pinsIn(policy, "custody_program_sha256"),
      attestor: pinsIn(policy, "attestor_program_sha256"),
    },
    ...logsIn(policy, keys),
  };
};

/**
 * The trust policy in a document of the form of `/.well-known/evidence-trust.json`, given as its text or bytes, or
 * what is wrong with it: only keys of other registered types are ignored.
 * See docs/verify-evidence.md, "The policy".
 * @example
 * import { parseTrustPolicy } from "settlement-evidence/verify";
 *
 * "value" in parseTrustPolicy(trust); // => true
 * "fault" in parseTrustPolicy("{}"); // => true
 */
export const parseTrustPolicy = (
  document: string | Uint8Array,
): { readonly value: TrustPolicy } | { readonly fault: string } =>
  formOf(() => policyOf(readStrictDocument(document, WHAT, MAX_BYTES)));
