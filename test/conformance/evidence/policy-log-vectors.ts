import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { TWINS } from "../../core/log/support/test-signer.ts";
import { LOG_KEY, logPolicyText, mlDsaKey, type NoteKey, noteKey, WITNESSES } from "./log-world.ts";
import { REVOKED_KEY } from "./rejecting-signature.ts";

/** The log's policies in a trust document, and whether the document is refused for them. */
type LogPolicyVector = {
  readonly name: string;
  readonly why: string;
  readonly onLedger: string | null;
  readonly appendOnly: string | null;
  readonly isRefused: boolean;
};

const [ALPHA, BETA] = WITNESSES;
const unsigning = ({ key }: (typeof TWINS)[number]): NoteKey => ({
  key,
  sign: () => new Uint8Array(),
});
const [ONE_TWIN, OTHER_TWIN] = [unsigning(TWINS[0]), unsigning(TWINS[1])];
const POINT_OF_ORDER_2 = Uint8Array.of(0xec, ...new Uint8Array(30).fill(0xff), 0x7f);

const vkey = ({ key }: ReturnType<typeof noteKey>): string => printVerifierKey(key);

const taken = (name: string, why: string, onLedger: string): LogPolicyVector => ({
  ...refused(name, why, onLedger),
  isRefused: false,
});

const refused = (name: string, why: string, onLedger: string): LogPolicyVector => ({
  name: `log-${name}`,
  why,
  onLedger,
  appendOnly: null,
  isRefused: true,
});

const witness = (name: string, key: string): string => `witness ${name} ${key}\n`;
const behind = (lines: string): string => `${logPolicyText()}${lines}`;

/** Two keys of one name with the same id, found by trying some 50,000 seeds. */
const sameIdKeys = () =>
  [35_666, 48_705].map((number) => {
    const seed = new Uint8Array(32);
    new DataView(seed.buffer).setUint32(0, number);
    const { publicKey } = ed25519Key(seed);
    return verifierKey("log.example/log/45ef13205b01e448/0", "ed25519", publicKey);
  });

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
    taken(
      "log-of-two-keys",
      "two keys of one log, as while it rotates them",
      behind(`log ${vkey(noteKey(LOG_KEY.key.name, "ed25519", 45))}\n`),
    ),
    refused(
      "key-id-twice",
      "two keys of one log with the same id, by which a line names its key",
      behind(
        sameIdKeys()
          .map((key) => `log ${printVerifierKey(key)}\n`)
          .join(""),
      ),
    ),
    refused(
      "key-name-and-id-twice",
      "two keys of one name and one id",
      behind(witness("d", vkey(ONE_TWIN)) + witness("e", vkey(OTHER_TWIN))),
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
    taken(
      "key-ml-dsa",
      "keys of ML-DSA-44 as a witness and as a log, which are named and not counted",
      behind(`${witness("d", mlDsaKey("d.example", 7))}log ${mlDsaKey("d.example/log", 8)}\n`),
    ),
    refused(
      "key-ml-dsa-short",
      "a key of ML-DSA-44 of 32 bytes",
      behind(witness("d", "d.example+00000000+Bg" + "A".repeat(42))),
    ),
    refused(
      "key-ml-dsa-id-wrong",
      "a key of ML-DSA-44 with an id that is not its own",
      behind(witness("d", mlDsaKey("d.example", 7).replace(/\+[0-9a-f]{8}\+/, "+00000000+"))),
    ),
    refused(
      "key-ml-dsa-twice",
      "one key of ML-DSA-44 twice",
      behind(witness("d", mlDsaKey("d.example", 7)) + witness("e", mlDsaKey("e.example", 7))),
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

/** Witnesses that only see the log grow, under the words of the others. */
const GROWTH = [24, 25, 26].map((seed) => noteKey(`w${seed}.example`, "cosignature", seed));
const growth = (witnesses: ReadonlyArray<NoteKey> = GROWTH, logs = [LOG_KEY]): string =>
  logPolicyText(undefined, undefined, logs, witnesses);

/** What the two policies are together. */
const pairs = (): ReadonlyArray<LogPolicyVector> => {
  const pair = (
    name: string,
    why: string,
    [onLedger, appendOnly]: readonly [string | null, string],
    isRefused = true,
  ): LogPolicyVector => ({ name: `logs-${name}`, why, onLedger, appendOnly, isRefused });
  const [first, ...others] = GROWTH;
  const shared = { ...ALPHA, key: verifierKey("copy.example", "cosignature", ALPHA.key.publicKey) };
  const evidence = verifierKey("copy.example", "cosignature", SERVICE_KEY.publicKey);
  const successor = noteKey(LOG_KEY.key.name.replace(/0$/, "1"), "ed25519", 30);
  const postQuantum = `${growth()}witness d ${mlDsaKey("d.example", 7)}\n`;
  return [
    pair("both", "a policy of each kind, with the same words", [logPolicyText(), growth()], false),
    pair("append-only-alone", "no policy for the ledger", [null, growth()], false),
    pair("witness-in-both", "one key in both", [logPolicyText(), logPolicyText()]),
    pair("key-in-both", "one key in both, under two names", [
      logPolicyText(),
      growth([shared, ...others]),
    ]),
    pair("key-in-both-and-no-quorum", "one key in both, and neither wants a witness", [
      logPolicyText("quorum none", ""),
      logPolicyText("quorum none", "", undefined, [shared]),
    ]),
    pair("ml-dsa-in-both", "one key of ML-DSA-44 in both", [
      `${logPolicyText()}witness d ${mlDsaKey("d.example", 7)}\n`,
      postQuantum,
    ]),
    pair("key-name-and-id-in-both", "two keys of one name and one id, one in each", [
      logPolicyText(undefined, undefined, undefined, [ONE_TWIN, ALPHA, BETA]),
      growth([OTHER_TWIN, ...others]),
    ]),
    pair("evidence-key", "the key that signs packets as a witness", [
      null,
      `${growth()}witness d ${printVerifierKey(evidence)}\n`,
    ]),
    pair("group-over-both", "a group of witnesses of both", [
      logPolicyText(undefined, "group q 2 alpha beta epsilon"),
      growth().replace("witness alpha", "witness epsilon").replace(" alpha ", " epsilon "),
    ]),
    pair("quorum-of-the-other", "a quorum that the other policy defines", [
      logPolicyText("quorum r"),
      growth().replaceAll(/\bq\b/g, "r"),
    ]),
    pair("other-log", "another log in each", [logPolicyText(), growth(GROWTH, [successor])]),
    pair("one-log-more", "a log in one of them that the other does not name", [
      logPolicyText(undefined, undefined, [LOG_KEY, successor]),
      growth(),
    ]),
    pair(
      "logs-in-another-order",
      "two logs in both, in another order",
      [
        logPolicyText(undefined, undefined, [LOG_KEY, successor]),
        growth(GROWTH, [successor, LOG_KEY]),
      ],
      false,
    ),
    pair("append-only-twice", "one key twice among the witnesses that only see the log grow", [
      null,
      growth(first === undefined ? [] : [first, first, ...others.slice(1)]),
    ]),
  ];
};

/** Policies of logs that every verifier must read, or refuse with the whole document. */
export const logPolicyVectors = (): ReadonlyArray<LogPolicyVector> => [
  ...lines(),
  ...keys(),
  ...pairs(),
];
