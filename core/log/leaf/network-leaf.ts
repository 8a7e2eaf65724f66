import type { Address } from "../../domain/address.ts";
import { canonicalJsonBytes } from "../../domain/encoding/canonical-json.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";

/** The version of the rules by which leaves are made (docs/log.md). Other rules are another log. */
export const LOG_VERSION = 1;

/** Hex digits of the hash of leaf 0 that a log's origin shows. */
const NETWORK_ID_DIGITS = 16;

/**
 * Leaf 0 of every log: the RFC 8785 bytes that name its rules, its ledger and its programs. The custody program does
 * not number it, so the chain on the ledger does not hold it.
 */
export const networkLeaf = (
  genesisHash: Address,
  { custodyProgram, attestorProgram }: Deployment,
): Uint8Array =>
  canonicalJsonBytes({
    version: LOG_VERSION,
    genesis_hash: genesisHash,
    custody_program: custodyProgram,
    attestor_program: attestorProgram,
  });

/** The first 16 hex digits of the plain SHA-256 of leaf 0, as a log's origin shows them. */
export const networkIdOf = (leaf: Uint8Array): string =>
  hash32FromBytes(sha256(leaf)).slice(0, NETWORK_ID_DIGITS);
