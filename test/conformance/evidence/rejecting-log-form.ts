import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { LogProof } from "../../../core/use-cases/log/serving/read-log.ts";

type FormVector = { readonly name: string; readonly why: string; readonly log: Json };

/** Values of `references.log` whose form is wrong, each in one way, from a right one. */
export const logFormVectors = (right: LogProof): ReadonlyArray<FormVector> => {
  const { origin, index, proof } = right;
  const vector = (name: string, why: string, log: Json): FormVector => ({
    name: `log-${name}`,
    why,
    log,
  });
  const with_ = (name: string, why: string, change: { readonly [member: string]: Json }) =>
    vector(name, why, { origin, index, proof, ...change });
  const text = (name: string, why: string, change: (proof: string) => string) =>
    with_(name, why, { proof: change(proof) });
  const lines = proof.split("\n");
  const hash = lines[2] ?? "";
  const signature = lines.at(-2) ?? "";
  const line = (at: number, other: string) => () => lines.with(at, other).join("\n");
  const originAt = lines.indexOf(origin);
  return [
    vector("false", "false in place of null", false),
    vector("text", "the proof without the object around it", proof),
    vector("member-missing", "no index", { origin, proof }),
    with_("member-unknown", "an unknown member", { note: "" }),
    with_("origin-differs", "another origin than the checkpoint's", { origin: `x${origin}` }),
    with_("origin-no-log", "an origin that is not of a log's form", { origin: "example.com" }),
    with_("index-differs", "another index than the proof's", { index: index + 1 }),
    with_("index-text", "the index as a text", { index: String(index) }),
    with_("proof-null", "no proof", { proof: null }),
    with_("proof-empty", "an empty proof", { proof: "" }),
    text("version", "the first line of another version", line(0, "c2sp.org/tlog-proof@v2")),
    text("extra", "an extra line", line(1, `extra AAAA\nindex ${index}`)),
    text("index-zero-before", "an index with a leading zero", line(1, `index 0${index}`)),
    text("index-too-large", "an index of 2^53", line(1, "index 9007199254740992")),
    text("hash-short", "a hash of 31 bytes", line(2, Buffer.alloc(31).toString("base64"))),
    text("hash-unpadded", "a hash without its padding", line(2, hash.replace("=", ""))),
    text("hash-space", "a space behind a hash", line(2, `${hash} `)),
    text("hashes-64", "64 hashes", line(2, Array.from({ length: 64 }, () => hash).join("\n"))),
    text("line-ends", "CR LF for LF", (right) => right.replaceAll("\n", "\r\n")),
    text("empty-line-missing", "no empty line before the checkpoint", (right) =>
      right.replace("\n\n", "\n"),
    ),
    text("size-zero-before", "a size with a leading zero", line(originAt + 1, "0300")),
    text("size-hex", "a size in hex", line(originAt + 1, "0x12c")),
    text(
      "root-short",
      "a root of 31 bytes",
      line(originAt + 2, Buffer.alloc(31).toString("base64")),
    ),
    text("extension", "an extension line in the checkpoint", line(originAt + 3, "note\n")),
    text("last-newline-missing", "no newline at the end", (right) => right.slice(0, -1)),
    text("signature-hyphen", "a hyphen for the dash", (right) =>
      right.replace(`\n${signature}`, `\n${signature.replace("\u2014", "-")}`),
    ),
    text("signature-not-base64", "a signature that is not base64", (right) =>
      right.replace(signature, `${signature}!`),
    ),
    text("signature-empty", "a signature line without bytes behind the id", (right) =>
      right.replace(signature, "\u2014 alpha.example/w AAAAAA=="),
    ),
    text("signatures-none", "no signature", (right) =>
      right.slice(0, right.lastIndexOf("\n\n") + 2),
    ),
    text("signatures-101", "101 signatures", (right) => `${right}${`${signature}\n`.repeat(98)}`),
    text("control-character", "a control character in a signature's name", (right) =>
      right.replace("alpha", "al\u0007pha"),
    ),
  ];
};
