import { createHash } from "node:crypto";
import { canVerify } from "./independent-ed25519.ts";
import { fromBase64, need } from "./independent-form.ts";

/** Whether a text can name a key by docs/verify-evidence.md, "The log's policies". */
export const isName = (text: string): boolean =>
  text !== "" &&
  text.length <= 256 &&
  Array.from(text).every((c) => c !== "+" && !/^[\p{White_Space}\p{Cc}\ud800-\udfff]$/u.test(c));

type Key = { readonly name: string; readonly id: Uint8Array; readonly publicKey: Uint8Array };

/** A log's policy as the independent verifier reads it. */
export type LogPolicy = {
  readonly logs: ReadonlyArray<Key>;
  readonly witnesses: ReadonlyArray<{ readonly word: string; readonly key: Key }>;
  readonly groups: ReadonlyArray<{ word: string; least: number; members: ReadonlyArray<string> }>;
  /** The name of a witness or a group, or none. */
  readonly quorum: string;
};

const readKey = (text: string | undefined, type: number): Key => {
  need(text !== undefined);
  const [name = "", hex = "", ...material] = text.split("+");
  need(isName(name) && material.length > 0);
  const bytes = fromBase64(material.join("+"));
  const publicKey = bytes.subarray(1);
  // ML-DSA-44 is named and never counted.
  if (bytes[0] === 6) need(publicKey.length === 1312);
  else need(bytes[0] === type && publicKey.length === 32 && canVerify(publicKey));
  const id = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  need(hex === id.toString("hex"));
  return { name, id, publicKey };
};

/**
 * Reads a log's policy by docs/verify-evidence.md, "The log's policies"; `evidenceKeys` are base64url. @throws Error
 */
const readLogPolicy = (text: string, evidenceKeys: ReadonlyArray<string>): LogPolicy => {
  need(text.length <= 65_536 && text.endsWith("\n") && text.isWellFormed());
  for (const c of text) need(c === "\n" || c === "\t" || (c >= " " && c !== "\x7f"));
  const logs: Array<Key> = [];
  const witnesses: Array<{ word: string; key: Key }> = [];
  const groups: Array<{ word: string; least: number; members: ReadonlyArray<string> }> = [];
  const words = new Set<string>();
  let quorum: string | undefined;
  const define = (word: string | undefined): string => {
    need(word !== undefined && word !== "none" && !words.has(word));
    words.add(word);
    return word;
  };
  for (const line of text.slice(0, -1).split("\n")) {
    const [keyword, ...rest] = line.split(/[ \t]/).filter((word) => word !== "");
    if (keyword === undefined || keyword.startsWith("#")) continue;
    if (keyword === "log") {
      need(rest.length === 1 || rest.length === 2);
      logs.push(readKey(rest[0], 1));
    } else if (keyword === "witness") {
      need(rest.length === 2 || rest.length === 3);
      witnesses.push({ word: define(rest[0]), key: readKey(rest[1], 4) });
    } else if (keyword === "group") {
      const [word, wanted = "", ...members] = rest;
      need(members.length > 0 && members.every((member) => words.has(member)));
      const least = wanted === "any" ? 1 : wanted === "all" ? members.length : Number(wanted);
      need(["any", "all"].includes(wanted) || /^[1-9]\d*$/.test(wanted));
      need(least <= members.length);
      groups.push({ word: define(word), least, members });
    } else {
      need(keyword === "quorum" && quorum === undefined && rest.length === 1);
      const [word = ""] = rest;
      need(word === "none" || words.has(word));
      quorum = word;
    }
  }
  need(quorum !== undefined);
  need(logs.length <= 128 && witnesses.length <= 128 && groups.length <= 128);
  const members = groups.flatMap((group) => group.members);
  need(new Set(members).size === members.length);
  const keys = [...logs, ...witnesses.map(({ key }) => key)].map(({ publicKey }) =>
    Buffer.from(publicKey).toString("base64url"),
  );
  need(new Set([...keys, ...evidenceKeys]).size === keys.length + new Set(evidenceKeys).size);
  const named = [...logs, ...witnesses.map(({ key }) => key)].map(shownName);
  need(new Set(named).size === named.length);
  return { logs, witnesses, groups, quorum };
};

/** What a signature line shows of its key. */
const shownName = ({ name, id }: Key): string => `${name} ${Buffer.from(id).toString("hex")}`;

/** Both policies of a trust document. */
export type LogPolicies = {
  readonly onLedger: LogPolicy | null;
  readonly appendOnly: LogPolicy | null;
};

const hex = ({ publicKey }: Key): string => Buffer.from(publicKey).toString("hex");

/** Reads both policies: the same logs in both, and no witness in two. @throws Error */
export const readLogPolicies = (
  [onLedger, appendOnly]: ReadonlyArray<string | null>,
  evidenceKeys: ReadonlyArray<string>,
): LogPolicies => {
  const read = (text: string | null | undefined) =>
    typeof text === "string" ? readLogPolicy(text, evidenceKeys) : null;
  const both = { onLedger: read(onLedger), appendOnly: read(appendOnly) };
  if (both.onLedger === null || both.appendOnly === null) return both;
  const logs = (policy: LogPolicy) =>
    policy.logs
      .map((key) => `${key.name} ${hex(key)}`)
      .sort()
      .join("\n");
  need(logs(both.onLedger) === logs(both.appendOnly));
  const own = new Set(both.onLedger.witnesses.map(({ key }) => hex(key)));
  need(both.appendOnly.witnesses.every(({ key }) => !own.has(hex(key))));
  const named = new Set(both.onLedger.witnesses.map(({ key }) => shownName(key)));
  need(both.appendOnly.witnesses.every(({ key }) => !named.has(shownName(key))));
  return both;
};
