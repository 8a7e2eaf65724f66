import { sha256 } from "@noble/hashes/sha2.js";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";

/** A hash that stands for any in examples. */
export const hashExample = (word: string) =>
  hash32FromBytes(sha256(new TextEncoder().encode(word)));
