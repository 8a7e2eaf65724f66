import { createHash } from "node:crypto";
import { fromBase58, isOneOf, need, object, strictText } from "./independent-form.ts";
import { type LogPolicies, readLogPolicies } from "./independent-log-policy.ts";
import { type ObjectValue, readJson, type Value } from "./independent-json.ts";

/** A policy as the independent verifier reads it. */
export type Policy = {
  readonly keys: ReadonlyArray<{ kid: string; x: string; status: string }>;
  readonly network: ReadonlyMap<string, Value>;
  /** Addresses of the listed mints. */
  readonly mints: ReadonlyArray<string>;
  readonly log: LogPolicies;
};

const isWhole = (value: Value | undefined, most: bigint): boolean =>
  typeof value === "bigint" && value >= 0n && value <= most;

const readKey = (value: Value): Policy["keys"] => {
  need(value instanceof Map);
  const [kty, crv] = [value.get("kty"), value.get("crv")];
  if (isOneOf(kty, ["AKP", "EC", "RSA", "oct"])) return [];
  if (kty === "OKP" && isOneOf(crv, ["Ed448", "X25519", "X448"])) return [];
  const exp = value.has("exp");
  const key = object(value, `kty crv alg use kid x status${exp ? " exp" : ""}`);
  need(kty === "OKP" && crv === "Ed25519");
  need(key.get("alg") === "Ed25519" && key.get("use") === "sig");
  need(!exp || isWhole(key.get("exp"), 2n ** 53n - 1n));
  const [kid, x, status] = ["kid", "x", "status"].map((name) => key.get(name));
  need(typeof kid === "string" && typeof x === "string" && typeof status === "string");
  const bytes = Buffer.from(x, "base64url");
  need(bytes.length === 32 && bytes.toString("base64url") === x);
  const required = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
  need(kid === createHash("sha256").update(required).digest("base64url"));
  need(["current", "retired", "revoked"].includes(status));
  return [{ kid, x, status }];
};

const readMint = (value: Value): string => {
  const mint = object(value, "address decimals symbol");
  const [mintAddress, symbol] = [mint.get("address"), mint.get("symbol")];
  fromBase58(mintAddress, 32);
  need(isWhole(mint.get("decimals"), 255n));
  need(typeof symbol === "string" && symbol.length >= 1 && symbol.length <= 16);
  need(Array.from(symbol).every((c) => c > " " && c < "\x7f"));
  return mintAddress as string;
};

/** Reads a trust document by docs/verify-evidence.md, "The policy". @throws Error for one that is refused */
export const readPolicy = (document: Uint8Array): Policy => {
  need(document.length <= 1_048_576);
  const json = readJson(strictText(document));
  need(json instanceof Map);
  const pinned = ["custody_program_sha256", "attestor_program_sha256"].filter((name) =>
    json.has(name),
  );
  const policy: ObjectValue = object(
    json,
    [
      "version jwks genesis_hash cluster custody_program attestor_program supported_mints log_on_ledger log_append_only",
      ...pinned,
    ].join(" "),
  );
  for (const name of pinned) {
    const hashes = policy.get(name);
    need(Array.isArray(hashes) && hashes.length > 0);
    need(hashes.every((hash) => typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)));
  }
  need(policy.get("version") === 2n);
  const keys = object(policy.get("jwks"), "keys").get("keys");
  const mints = policy.get("supported_mints");
  need(Array.isArray(keys) && Array.isArray(mints));
  for (const name of ["genesis_hash", "custody_program", "attestor_program"])
    fromBase58(policy.get(name), 32);
  const cluster = policy.get("cluster");
  need(typeof cluster === "string" && cluster !== "");
  const logs = ["log_on_ledger", "log_append_only"].map((name) => {
    const text = policy.get(name);
    need(text === null || typeof text === "string");
    return text;
  });
  const addresses = mints.map(readMint);
  need(new Set(addresses).size === addresses.length);
  const own = keys.flatMap(readKey);
  const log = readLogPolicies(
    logs,
    own.map(({ x }) => x),
  );
  return { keys: own, network: policy, mints: addresses, log };
};
