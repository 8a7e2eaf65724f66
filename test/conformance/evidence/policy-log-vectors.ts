import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { LOG_KEY, logPolicyText, noteKey, WITNESSES } from "./log-world.ts";
import { REVOKED_KEY } from "./rejecting-signature.ts";

/** A log's policy in a trust document, and whether the document is refused for it. */
type LogPolicyVector = {
  readonly name: string;
  readonly why: string;
  readonly log: string;
  readonly isRefused: boolean;
};

const [ALPHA, BETA] = WITNESSES;
const POINT_OF_ORDER_2 = Uint8Array.of(0xec, ...new Uint8Array(30).fill(0xff), 0x7f);

const vkey = ({ key }: ReturnType<typeof noteKey>): string => printVerifierKey(key);

const taken = (name: string, why: string, log: string): LogPolicyVector => ({
  name: `log-${name}`,
  why,
  log,
  isRefused: false,
});

const refused = (name: string, why: string, log: string): LogPolicyVector => ({
  name: `log-${name}`,
  why,
  log,
  isRefused: true,
});

const witness = (name: string, key: string): string => `witness ${name} ${key}\n`;
const behind = (lines: string): string => `${logPolicyText()}${lines}`;

const keys = (): ReadonlyArray<LogPolicyVector> => {
  const copy = verifierKey("copy.example", "cosignature", ALPHA.key.publicKey);
  const asWitness = verifierKey("copy.example", "cosignature", LOG_KEY.key.publicKey);
  const evidence = verifierKey("copy.example", "cosignature", SERVICE_KEY.publicKey);
  const revoked = verifierKey("copy.example/log", "ed25519", REVOKED_KEY.publicKey);
  const small = verifierKey("small.example", "cosignature", POINT_OF_ORDER_2);
  return [
    refused("key-twice", "one key as two witnesses", behind(witness("d", printVerifierKey(copy)))),
    refused(
      "key-of-log-as-witness",
      "the log's key as a witness",
      behind(witness("d", printVerifierKey(asWitness))),
    ),
    refused(
      "key-of-evidence-as-witness",
      "the key that signs packets as a witness",
      behind(witness("d", printVerifierKey(evidence))),
    ),
    refused(
      "key-of-revoked-evidence",
      "a revoked evidence key as a log",
      behind(`log ${printVerifierKey(revoked)}\n`),
    ),
    refused("log-twice", "one log twice", behind(`log ${vkey(LOG_KEY)}\n`)),
    refused("key-small-order", "a point of order 2", behind(witness("d", printVerifierKey(small)))),
    refused(
      "key-id-wrong",
      "an id that is not that of the key",
      logPolicyText().replace(BETA.key.id, "00000000"),
    ),
    refused(
      "witness-of-log-type",
      "a witness' key of the type 0x01",
      behind(witness("d", vkey(noteKey("delta.example", "ed25519", 24)))),
    ),
    refused(
      "log-of-witness-type",
      "a log's key of the type 0x04",
      behind(`log ${vkey(noteKey("delta.example", "cosignature", 24))}\n`),
    ),
    refused("key-garbled", "a key that is none", "log example.com+00000000+AA==\nquorum none\n"),
  ];
};

const lines = (): ReadonlyArray<LogPolicyVector> => {
  const many = Array.from({ length: 129 }, (_, i) => `group g${i} any`);
  return [
    taken("quorum-none", "no witness is wanted", logPolicyText("quorum none")),
    taken("quorum-alone", "nothing but the quorum line", "quorum none\n"),
    taken("two-of-three", "a comment, logs, witnesses, a group and a quorum", logPolicyText()),
    taken("any", "one of three", logPolicyText(undefined, "group q any alpha beta gamma")),
    taken("all", "all three", logPolicyText(undefined, "group q all alpha beta gamma")),
    taken(
      "white-space",
      "tabs, spaces at both ends, empty lines, a comment with a space before",
      logPolicyText().replaceAll(" ", " \t ").replaceAll("\n", " \n\n  # note\n"),
    ),
    refused("empty", "an empty text", ""),
    refused("no-quorum", "no quorum line", logPolicyText("# no quorum")),
    refused("quorum-twice", "two quorum lines", behind("quorum none\n")),
    refused("quorum-unknown", "a quorum that is not defined", logPolicyText("quorum r")),
    refused("quorum-before", "a quorum that is defined below", `quorum q\n${logPolicyText("")}`),
    refused("quorum-0", "none of three", logPolicyText(undefined, "group q 0 alpha beta gamma")),
    refused("quorum-4", "four of three", logPolicyText(undefined, "group q 4 alpha beta gamma")),
    refused("quorum-02", "02 for 2", logPolicyText(undefined, "group q 02 alpha beta gamma")),
    refused("group-empty", "a group without members", logPolicyText(undefined, "group q any")),
    refused("member-unknown", "an unknown member", logPolicyText(undefined, "group q any delta")),
    refused(
      "member-twice",
      "a member twice",
      logPolicyText(undefined, "group q 2 alpha alpha beta"),
    ),
    refused(
      "member-of-two",
      "a member of two groups",
      logPolicyText("quorum r", "group q any alpha\ngroup r any q alpha"),
    ),
    refused(
      "name-twice",
      "a name twice",
      logPolicyText("quorum q", "group q any alpha\ngroup q any beta"),
    ),
    refused(
      "name-none",
      "a witness that is called none",
      behind(witness("none", vkey(noteKey("d.example", "cosignature", 24)))),
    ),
    refused("word-unknown", "a line of another word", behind("logs\n")),
    refused("word-upper-case", "Quorum for quorum", logPolicyText("Quorum q")),
    refused(
      "words-many",
      "a third word behind a log",
      behind(`log ${vkey(noteKey("d.example/log", "ed25519", 25))} a b\n`),
    ),
    refused("no-last-newline", "no newline at the end", logPolicyText().slice(0, -1)),
    refused("line-ends", "CR LF for LF", logPolicyText().replaceAll("\n", "\r\n")),
    refused(
      "too-many",
      "129 groups",
      behind(`${many.map((each) => `${each} alpha`).join("\n")}\n`),
    ),
    refused(
      "too-long",
      "65,537 characters",
      `${logPolicyText()}#${"x".repeat(65_535 - logPolicyText().length)}\n`,
    ),
  ];
};

/** Policies of logs that every verifier must read, or refuse with the whole document. */
export const logPolicyVectors = (): ReadonlyArray<LogPolicyVector> => [...lines(), ...keys()];
