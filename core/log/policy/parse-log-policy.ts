import { bytesToHex } from "@noble/hashes/utils.js";
import {
  keyLabel,
  type KeyUse,
  parseVerifierKey,
  type VerifierKey,
} from "../notes/verifier-key.ts";
import type { LogPolicy, PolicyGroup, PolicyLog, PolicyWitness } from "./log-policy.ts";

/** The longest policy that is read, in characters. */
export const MAX_POLICY_LENGTH = 65_536;
/** The most logs of a policy that is read, the most witnesses, and the most groups. */
export const MAX_POLICY_ENTRIES = 128;

const NONE = "none";

/** Where a fault is: the line's number, from 1 on, and its text. */
type FaultyLine = { readonly number: number; readonly text: string };

/** What is wrong with a policy; `line` only where one line is. */
export type PolicyRefused = { readonly fault: string; readonly line?: FaultyLine };

/** The most characters of a line that a fault shows. */
const MAX_SHOWN = 100;
/** How a line begins that a fault may show: a file that was named by mistake can hold a key. */
const SHOWN = /^[ \t]*(#|[A-Za-z]{1,16}([ \t]|$))/;

/** What is wrong with a policy, behind its line's number and the text of it, for who wrote the file. */
export const policyFaultText = ({ fault, line }: PolicyRefused): string => {
  if (line === undefined) return fault;
  const { number, text } = line;
  const shown = SHOWN.test(text) ? `, ${JSON.stringify(text.slice(0, MAX_SHOWN))}` : "";
  return `line ${number}${shown}: ${fault}`;
};

/** What is wrong with a line. Only `parseLogPolicy` catches it. */
class PolicyFault extends Error {
  line: FaultyLine | undefined;
}

const fail = (fault: string): never => {
  throw new PolicyFault(fault);
};

/** What the lines read until now have defined. */
class Definitions {
  readonly logs: Array<PolicyLog> = [];
  readonly witnesses: Array<PolicyWitness> = [];
  readonly groups: Array<PolicyGroup> = [];
  quorum: string | null | undefined;
  readonly #names = new Set<string>();
  readonly #members = new Set<string>();
  /** Public keys as hex, and whose they are. */
  readonly #keys: Map<string, string>;
  readonly #labels = new Set<string>();

  constructor(foreignKeys: ReadonlyArray<Uint8Array>) {
    this.#keys = new Map(foreignKeys.map((key) => [bytesToHex(key), "a key that signs evidence"]));
  }

  log(words: ReadonlyArray<string>): void {
    const [vkey = "", url = null] = expectWords(words, 1, 2, "log <vkey> [<url>]");
    const key = this.#key(vkey, "ed25519");
    this.logs.push({ key, url });
  }

  witness(words: ReadonlyArray<string>): void {
    const [name = "", vkey = "", url = null] = expectWords(
      words,
      2,
      3,
      "witness <name> <vkey> [<url>]",
    );
    this.#define(name);
    this.witnesses.push({ name, key: this.#key(vkey, "cosignature"), url });
  }

  group(words: ReadonlyArray<string>): void {
    const form = "group <name> <k>|any|all <name>...";
    const [name = "", wanted = "", ...members] = expectWords(
      words,
      3,
      Number.POSITIVE_INFINITY,
      form,
    );
    for (const member of members) {
      this.#expectDefined(member);
      if (this.#members.has(member)) fail(`${member} is a member twice`);
      this.#members.add(member);
    }
    this.#define(name);
    this.groups.push({ name, threshold: thresholdOf(name, wanted, members.length), members });
  }

  setQuorum(words: ReadonlyArray<string>): void {
    const [name = ""] = expectWords(words, 1, 1, "quorum <name>");
    if (this.quorum !== undefined) fail("the policy has two quorum lines");
    if (name !== NONE) this.#expectDefined(name);
    this.quorum = name === NONE ? null : name;
  }

  #define(name: string): void {
    if (name === NONE) fail("the name none is taken");
    if (this.#names.has(name)) fail(`${name} is defined twice`);
    this.#names.add(name);
  }

  #expectDefined(name: string): void {
    if (!this.#names.has(name)) fail(`${name} is not defined before it is named`);
  }

  #key(vkey: string, use: Exclude<KeyUse, "ml-dsa-44">): VerifierKey {
    const key = parseVerifierKey(vkey);
    if ("fault" in key) return fail(key.fault);
    const { name, publicKey } = key.value;
    // A key of ML-DSA-44 is read for either, so that a policy may name it before anything can count it.
    if (key.value.use !== use && key.value.use !== "ml-dsa-44")
      fail(`the key of ${name} is of the type of a ${use === "ed25519" ? "witness" : "log"}`);
    const hex = bytesToHex(publicKey);
    const owner = this.#keys.get(hex);
    if (owner !== undefined) fail(`${name} has the public key of ${owner}`);
    this.#keys.set(hex, name);
    const label = keyLabel(key.value);
    if (this.#labels.has(label)) fail(`two keys are named ${label}`);
    this.#labels.add(label);
    return key.value;
  }
}

const expectWords = (
  words: ReadonlyArray<string>,
  min: number,
  max: number,
  form: string,
): ReadonlyArray<string> =>
  words.length < min || words.length > max ? fail(`a line is not of the form ${form}`) : words;

const thresholdOf = (name: string, wanted: string, members: number): number => {
  if (wanted === "any") return 1;
  if (wanted === "all") return members;
  const k = /^[1-9][0-9]{0,8}$/.test(wanted) ? Number(wanted) : 0;
  if (k < 1 || k > members) fail(`group ${name} wants ${wanted} of ${members}`);
  return k;
};

const readLine = (line: string, definitions: Definitions): void => {
  const [keyword, ...words] = line.split(/[ \t]+/).filter((word) => word !== "");
  if (keyword === undefined || keyword.startsWith("#")) return;
  if (keyword === "log") definitions.log(words);
  else if (keyword === "witness") definitions.witness(words);
  else if (keyword === "group") definitions.group(words);
  else if (keyword === "quorum") definitions.setQuorum(words);
  else if (SHOWN.test(keyword)) fail(`a line begins with ${JSON.stringify(keyword)}`);
  else fail("a line begins with none of log, witness, group and quorum");
};

/** Does what concerns one line; a fault of it tells the line. `at` counts from 0. */
const onLine = (text: string, at: number, work: () => void): void => {
  try {
    work();
  } catch (error) {
    if (error instanceof PolicyFault) error.line = { number: at + 1, text };
    throw error;
  }
};

const expectText = (line: string): void => {
  if (!line.isWellFormed() || /[^\P{Cc}\t\u{80}-\u{9f}]/u.test(line))
    fail("the policy has control characters or is not UTF-8");
};

const policyOf = (text: string, foreignKeys: ReadonlyArray<Uint8Array>): LogPolicy => {
  if (text.length > MAX_POLICY_LENGTH) fail("the policy is too long");
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) onLine(line, at, () => expectText(line));
  if (lines.pop() !== "") fail("the last line does not end with a newline");
  const definitions = new Definitions(foreignKeys);
  for (const [at, line] of lines.entries()) onLine(line, at, () => readLine(line, definitions));
  const { logs, witnesses, groups, quorum } = definitions;
  if ([logs, witnesses, groups].some(({ length }) => length > MAX_POLICY_ENTRIES))
    fail(`the policy has more than ${MAX_POLICY_ENTRIES} logs, witnesses or groups`);
  if (quorum === undefined) return fail("the policy has no quorum line");
  return { logs, witnesses, groups, quorum };
};

/**
 * The policy of a text (C2SP tlog-policy), or what is wrong with it. A public key may stand in it once, whatever it is
 * for, and a name with an id, by which a signature line names its key. None of `foreignKeys` (32 bytes each), such as the keys that sign evidence, may
 * stand in it.
 */
export const parseLogPolicy = (
  text: string,
  foreignKeys: ReadonlyArray<Uint8Array> = [],
): { readonly value: LogPolicy } | PolicyRefused => {
  try {
    return { value: policyOf(text, foreignKeys) };
  } catch (error) {
    if (!(error instanceof PolicyFault)) throw error;
    const { message: fault, line } = error;
    return line === undefined ? { fault } : { fault, line };
  }
};
