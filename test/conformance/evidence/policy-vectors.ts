import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { ed25519Jwk } from "../../../core/domain/evidence/evidence-signature.ts";
import { ed25519Key, NETWORK, SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { SUPPORTED_MINT, usdc } from "../../core/use-cases/test-instance.ts";
import { RETIRED_KEY } from "./accepting-vectors.ts";
import type { Draft } from "./packet-edits.ts";
import { logPolicyVectors } from "./policy-log-vectors.ts";
import { REVOKED_KEY } from "./rejecting-signature.ts";

/** A policy document, and the expected verdict on it and on fulfilled.json under it. */
export type PolicyVector = {
  readonly name: string;
  readonly why: string;
  /** `refused`: the document is not a policy, and no packet is checked under it. */
  readonly verdict: "verified" | "failed" | "refused";
  /** Whether `mint_value` passes; null when there is no verdict or it is `failed`. */
  readonly mint_listed: boolean | null;
} & ({ readonly policy: string } | { readonly policy_base64: string });

const jwk = (key: ReturnType<typeof ed25519Key>, status: string): Draft => ({
  ...ed25519Jwk(key.publicKey),
  status,
});
const OWN = jwk(SERVICE_KEY, "current");

/** The policy under which all packets of the vectors are checked. */
export const trustDocument = (): Draft => ({
  version: 2,
  jwks: {
    keys: [
      OWN,
      { ...jwk(RETIRED_KEY, "retired"), exp: 1_785_542_400 },
      { ...jwk(REVOKED_KEY, "revoked"), exp: 1_785_542_400 },
    ],
  },
  genesis_hash: NETWORK.genesisHash,
  cluster: NETWORK.cluster,
  custody_program: NETWORK.custodyProgram,
  attestor_program: NETWORK.attestorProgram,
  supported_mints: [usdc(SUPPORTED_MINT)],
  log_on_ledger: null,
  log_append_only: null,
});

const without = (draft: Draft, name: string): Draft =>
  Object.fromEntries(Object.entries(draft).filter(([member]) => member !== name));

const vector = (
  name: string,
  why: string,
  document: Draft | string,
  verdict: PolicyVector["verdict"],
  mint_listed: boolean | null = null,
): PolicyVector => ({
  name,
  why,
  policy: typeof document === "string" ? document : JSON.stringify(document),
  verdict,
  mint_listed,
});

const refused = (name: string, why: string, document: Draft | string): PolicyVector =>
  vector(name, why, document, "refused");

/** The policy with some members changed. */
const changed = (name: string, why: string, change: Draft): PolicyVector =>
  refused(name, why, { ...trustDocument(), ...change });

const lacking = (member: string): PolicyVector =>
  refused(`${member}-missing`, `no ${member}`, without(trustDocument(), member));

const withKeys = (...keys: ReadonlyArray<Json>): Draft => ({
  ...trustDocument(),
  jwks: { keys },
});

const refusedKey = (name: string, why: string, key: Json): PolicyVector =>
  vector(name, why, withKeys(OWN, key), "refused");

const refusedMint = (name: string, why: string, ...supported_mints: ReadonlyArray<Json>) =>
  changed(name, why, { supported_mints });

const keys = (): ReadonlyArray<PolicyVector> => {
  const other = jwk(ed25519Key(6), "revoked");
  const ec = { kty: "EC", crv: "P-256", x: "", y: "", status: "current" };
  return [
    refusedKey("status-misspelt", "a revoked key with stauts for status", {
      ...without(other, "status"),
      stauts: "revoked",
    }),
    refusedKey("revoked-member", "a current key that says revoked: true besides", {
      ...other,
      status: "current",
      revoked: true,
    }),
    refusedKey("status-missing", "a key without a status", without(other, "status")),
    refusedKey("status-null", "a key whose status is null", { ...other, status: null }),
    refusedKey("status-unknown", "a key whose status is expired", { ...other, status: "expired" }),
    refusedKey("key-unknown-member", "an unknown member in a key", { ...other, note: "" }),
    refusedKey("key-exp-null", "null where exp can be absent", { ...other, exp: null }),
    refusedKey("key-use-enc", "a key for encryption", { ...other, use: "enc" }),
    refusedKey("key-alg-eddsa", "alg is EdDSA", { ...other, alg: "EdDSA" }),
    refusedKey("key-without-type", "a key without kty", without(other, "kty")),
    refusedKey("key-type-unregistered", "OPK for OKP: no registered type", {
      ...other,
      kty: "OPK",
    }),
    refusedKey("key-curve-unregistered", "ed25519 in small letters: no registered curve", {
      ...other,
      crv: "ed25519",
    }),
    refusedKey("key-padded", "x with padding", { ...other, x: `${other["x"] as string}=` }),
    refusedKey("key-id-of-another", "a kid that is not the thumbprint of x", {
      ...other,
      kid: OWN["kid"] ?? null,
    }),
    refusedKey("key-null", "null for a key", null),
    vector(
      "other-key-type",
      "an EC key beside, which is ignored",
      withKeys(OWN, ec),
      "verified",
      true,
    ),
    vector(
      "other-curve",
      "an X25519 key beside, which is ignored whatever else it says",
      withKeys(OWN, { kty: "OKP", crv: "X25519", status: null, note: "" }),
      "verified",
      true,
    ),
    vector("no-key", "no key at all", withKeys(), "failed"),
    vector(
      "current-and-revoked",
      "one entry of the key is current and another revoked",
      withKeys(OWN, jwk(SERVICE_KEY, "revoked")),
      "failed",
    ),
  ];
};

const versions = (): ReadonlyArray<PolicyVector> => [
  lacking("version"),
  changed("version-null", "version null", { version: null }),
  changed("version-0", "version 0", { version: 0 }),
  changed("version-1", "version 1", { version: 1 }),
  refused("version-1-whole", "a document of version 1 with its one policy of the log", {
    ...without(without(trustDocument(), "log_on_ledger"), "log_append_only"),
    version: 1,
    log: null,
  }),
  changed("version-3", "version 3", { version: 3 }),
  changed("version-text", 'version "2"', { version: "2" }),
  refused(
    "version-2.0",
    "2 written otherwise than RFC 8785 does",
    JSON.stringify(trustDocument()).replace('"version":2', '"version":2.0'),
  ),
];

const members = (): ReadonlyArray<PolicyVector> => [
  vector("published", "trust.json, compact", trustDocument(), "verified", true),
  ...Object.keys(without(trustDocument(), "version")).map(lacking),
  changed("unknown-member", "an unknown member beside jwks", { note: "" }),
  changed("jwks-unknown-member", "an unknown member in jwks", { jwks: { keys: [OWN], note: "" } }),
  changed("jwks-array", "the keys without jwks around them", { jwks: [OWN] }),
  changed("genesis-not-32-bytes", "a genesis hash of another length", { genesis_hash: "1111" }),
  changed("cluster-empty", "an empty cluster", { cluster: "" }),
  changed("log-object", "a log that is no text", { log_on_ledger: {} }),
  changed("log-append-only-object", "the other one that is no text", { log_append_only: {} }),
  changed("log-of-version-1", "the member of version 1 beside", { log: null }),
  ...logPolicyVectors().map(({ name, why, onLedger, appendOnly, isRefused }) => {
    const logs = { log_on_ledger: onLedger, log_append_only: appendOnly };
    return isRefused
      ? changed(name, why, logs)
      : vector(name, why, { ...trustDocument(), ...logs }, "verified", true);
  }),
  vector(
    "another-ledger",
    "another genesis hash",
    { ...trustDocument(), genesis_hash: SUPPORTED_MINT },
    "failed",
  ),
  refused(
    "member-twice",
    "two members jwks",
    JSON.stringify(trustDocument()).replace('"jwks":', '"jwks":{"keys":[]},"jwks":'),
  ),
  refused(
    "policy-something-behind",
    "a second value behind the document",
    `${JSON.stringify(trustDocument())}{}`,
  ),
  {
    name: "policy-byte-order-mark",
    why: "EF BB BF before it",
    policy_base64: Buffer.from(`\ufeff${JSON.stringify(trustDocument())}`).toString("base64"),
    verdict: "refused",
    mint_listed: null,
  },
];

const mints = (): ReadonlyArray<PolicyVector> => {
  const mint: Draft = { ...usdc(SUPPORTED_MINT) };
  const other: Draft = { ...usdc(NETWORK.custodyProgram), decimals: 9, symbol: "SOME" };
  const listing = (name: string, why: string, listed: boolean, ...supported_mints: Array<Json>) =>
    vector(name, why, { ...trustDocument(), supported_mints }, "verified", listed);
  return [
    listing("no-mints", "no mint is listed", false),
    listing("another-mint", "another mint is listed", false, other),
    listing("two-mints", "another mint is listed besides", true, other, mint),
    changed("mints-null", "null for the list of mints", { supported_mints: null }),
    refusedMint("mint-unknown-member", "an unknown member in a mint", { ...mint, note: "" }),
    refusedMint("mint-address-only", "a mint without decimals and symbol", {
      address: SUPPORTED_MINT,
    }),
    refusedMint("mint-not-32-bytes", "an address of another length", { ...mint, address: "1111" }),
    refusedMint("mint-decimals-256", "256 decimals", { ...mint, decimals: 256 }),
    refusedMint("mint-decimals-text", "decimals as a text", { ...mint, decimals: "6" }),
    refusedMint("mint-symbol-empty", "an empty symbol", { ...mint, symbol: "" }),
    refusedMint("mint-symbol-long", "a symbol of 17 characters", {
      ...mint,
      symbol: "U".repeat(17),
    }),
    refusedMint("mint-symbol-not-ascii", "a symbol with a Cyrillic letter", {
      ...mint,
      symbol: "USD\u0421",
    }),
    refusedMint("mint-twice", "one mint with two symbols", mint, { ...mint, symbol: "OTHER" }),
  ];
};

const pins = (): ReadonlyArray<PolicyVector> => {
  const pin = "0123456789abcdef".repeat(4);
  const other = "f".repeat(64);
  const refusedPin = (name: string, why: string, custody_program_sha256: Json) =>
    changed(name, why, { custody_program_sha256 });
  return [
    vector(
      "pins",
      "hashes for both programs, which only a node can judge",
      {
        ...trustDocument(),
        custody_program_sha256: [pin, other],
        attestor_program_sha256: [other],
      },
      "verified",
      true,
    ),
    vector(
      "pin-of-one",
      "a hash for the attestor program alone",
      { ...trustDocument(), attestor_program_sha256: [pin] },
      "verified",
      true,
    ),
    refusedPin("pin-text", "a hash outside a list", pin),
    refusedPin("pin-null", "null where the list can be absent", null),
    refusedPin("pins-empty", "a list without a hash, which no program could meet", []),
    refusedPin("pin-short", "a hash of 31 bytes", [pin.slice(2)]),
    refusedPin("pin-upper-case", "a hash in capitals", [pin.toUpperCase()]),
    refusedPin("pin-number", "a number for a hash", [1]),
  ];
};

/** Policy documents that every verifier must accept or refuse. */
export const policyVectors = (): ReadonlyArray<PolicyVector> => [
  ...members(),
  ...versions(),
  ...keys(),
  ...mints(),
  ...pins(),
];
