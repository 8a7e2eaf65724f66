import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { TreeEdge } from "../../core/log/tree/tree-edge.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { isSameHash } from "../../core/log/tree/tree-hash.ts";
import type { CosignedLog } from "../../ports/log/witness-state.ts";

/** The first line of the file, which other forms will change. */
const VERSION = "witness-state/1";

const digestOf = (text: string): string => bytesToHex(sha256(new TextEncoder().encode(text)));

/** What was cosigned of a log, as the text of a file: a line each, and the SHA-256 of the lines before it as the last. */
export const printCosigned = (origin: string, { size, root, head, edge }: CosignedLog): string => {
  const lines = [VERSION, origin, String(size), ...[root, head, ...edge].map(encodeBase64)];
  const text = `${lines.join("\n")}\n`;
  return `${text}${digestOf(text)}\n`;
};

/**
 * What a text says was cosigned of a log. @throws Error for a text that `printCosigned` did not print for this origin: what
 * was cosigned is then unknown, and beginning anew could cosign another history.
 */
export const parseCosigned = (origin: string, text: string): CosignedLog => {
  const lines = text.split("\n");
  const [version, of, size, ...rest] = lines.slice(0, -2);
  const body = `${lines.slice(0, -2).join("\n")}\n`;
  if (`${body}${digestOf(body)}\n` !== text || version !== VERSION || of !== origin)
    throw new Error("the file of a cosigned log is damaged");
  const [root, head, ...edge] = rest.map((line) => decodeBase64(line) ?? new Uint8Array());
  if (root === undefined || head === undefined) throw new Error("a cosigned log without a root");
  const cosigned = { size: Number(size), root, head, edge };
  if (!isSameHash(new TreeEdge(cosigned.size, edge).root(), root))
    throw new Error("the root of a cosigned log is not that of its edge");
  return cosigned;
};
