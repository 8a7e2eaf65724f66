import type { Json } from "../../domain/encoding/canonical-json.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { parseStrictJson } from "../../domain/encoding/strict-json.ts";

const STATUSES = ["current", "retired", "revoked"] as const;

const member = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })[name]
    : undefined;

const parseKeys = (value: Json | undefined): TrustPolicy["keys"] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const keys = (value as ReadonlyArray<Json>).map((key) => {
    const [kid, x] = [member(key, "kid"), member(key, "x")];
    const standing = member(key, "status");
    const status =
      standing === undefined ? "current" : STATUSES.find((known) => known === standing);
    const usable = member(key, "kty") === "OKP" && member(key, "crv") === "Ed25519";
    return usable && typeof kid === "string" && typeof x === "string" && status !== undefined
      ? { kid, x, status }
      : undefined;
  });
  return keys.every((key) => key !== undefined) ? keys : undefined;
};

/**
 * The trust policy in a document of the form of `/.well-known/evidence-trust.json`, or what is wrong
 * with it. See docs/protocol.md, "Evidence packet".
 */
export const parseTrustPolicy = (
  document: string,
): { readonly value: TrustPolicy } | { readonly fault: string } => {
  const json = parseStrictJson(document);
  if ("fault" in json) return { fault: `the trust policy ${json.fault}` };
  const keys = parseKeys(member(member(json.value, "jwks"), "keys"));
  if (keys === undefined) return { fault: "the trust policy has no usable jwks.keys" };
  const text = (name: string) => {
    const value = member(json.value, name);
    return typeof value === "string" ? value : undefined;
  };
  const genesisHash = text("genesis_hash");
  const cluster = text("cluster");
  const custodyProgram = text("custody_program");
  const attestorProgram = text("attestor_program");
  if (!genesisHash || !cluster || !custodyProgram || !attestorProgram)
    return {
      fault:
        "the trust policy lacks one of genesis_hash, cluster, custody_program, attestor_program",
    };
  return { value: { keys, genesisHash, cluster, custodyProgram, attestorProgram } };
};
