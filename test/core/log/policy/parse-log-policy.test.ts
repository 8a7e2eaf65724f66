import { expect, test } from "bun:test";
import { printVerifierKey, verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { parseLogPolicy, policyFaultText } from "../../../../core/log/policy/parse-log-policy.ts";
import { printLogPolicy } from "../../../../core/log/policy/print-log-policy.ts";
import { testKey, TWINS } from "../support/test-signer.ts";

const log = testKey("example.com/log", "ed25519", 1).key;
const witnesses = ["x1", "x2", "x3", "y1", "y2"].map(
  (name, i) => testKey(`w.example/${name}`, "cosignature", 10 + i).key,
);
const L = `log ${printVerifierKey(log)} https://log.example/`;
const W = witnesses.map(
  (key, i) => `witness ${["X1", "X2", "X3", "Y1", "Y2"][i]} ${printVerifierKey(key)}`,
);
const text = (...lines: ReadonlyArray<string>): string => `${lines.join("\n")}\n`;

test("the specification's example of two levels", () => {
  const read = parseLogPolicy(
    text(
      "# who watches",
      `\t ${L}\t`,
      "",
      ...W,
      "group X-witnesses 2 X1 X2 X3",
      "group Y-witnesses any Y1 Y2",
      "  # and all of them",
      "group X-and-Y  all X-witnesses \tY-witnesses",
      "quorum X-and-Y",
    ),
  );
  expect(read).toEqual({
    value: {
      logs: [{ key: log, url: "https://log.example/" }],
      witnesses: witnesses.map((key, i) => ({
        name: ["X1", "X2", "X3", "Y1", "Y2"][i] ?? "",
        key,
        url: null,
      })),
      groups: [
        { name: "X-witnesses", threshold: 2, members: ["X1", "X2", "X3"] },
        { name: "Y-witnesses", threshold: 1, members: ["Y1", "Y2"] },
        { name: "X-and-Y", threshold: 2, members: ["X-witnesses", "Y-witnesses"] },
      ],
      quorum: "X-and-Y",
    },
  });
});

test("`quorum none` is read, with and without logs and witnesses", () => {
  expect(parseLogPolicy("quorum none\n")).toEqual({
    value: { logs: [], witnesses: [], groups: [], quorum: null },
  });
  expect(parseLogPolicy(text(L, ...W, "quorum none"))).toHaveProperty("value.quorum", null);
});

const asLog = (seed: number, name = "other.example") =>
  printVerifierKey(testKey(name, "ed25519", seed).key);
const asWitness = (seed: number, name = "other.example") =>
  printVerifierKey(testKey(name, "cosignature", seed).key);

test("two keys of one name with two ids, and of two names, are read", () => {
  const [{ key: twin }] = TWINS;
  const other = testKey(twin.name, "cosignature", 12).key;
  const policy = text(
    `witness Z0 ${printVerifierKey(twin)}`,
    `witness Z1 ${printVerifierKey(other)}`,
    "quorum Z0",
  );
  expect(parseLogPolicy(policy)).toMatchObject({ value: { quorum: "Z0" } });
});

test.each([
  ["no quorum", text(L), "the policy has no quorum line"],
  ["two quorums", text("quorum none", "quorum none"), "the policy has two quorum lines"],
  [
    "the key of a log twice",
    text(L, `log ${asLog(1)}`, "quorum none"),
    "other.example has the public key of example.com/log",
  ],
  [
    "the key of a witness twice",
    text(...W, `witness Z ${asWitness(10)}`, "quorum Z"),
    "other.example has the public key of w.example/x1",
  ],
  [
    "a witness with the key of a log",
    text(L, `witness Z ${asWitness(1)}`, "quorum Z"),
    "other.example has the public key of example.com/log",
  ],
  [
    "a log with the key of a witness",
    text(...W, `log ${asLog(10)}`, "quorum X1"),
    "other.example has the public key of w.example/x1",
  ],
  [
    "two keys of one name and one id",
    text(...TWINS.map(({ key }, at) => `witness Z${at} ${printVerifierKey(key)}`), "quorum Z0"),
    "two keys are named twin.example/w+4ccc44d7",
  ],
  [
    "the evidence key",
    text(L, `witness Z ${asWitness(99)}`, "quorum Z"),
    "other.example has the public key of a key that signs evidence",
  ],
  [
    "the type of a witness",
    text(`log ${asWitness(1)}`, "quorum none"),
    "the key of other.example is of the type of a witness",
  ],
  [
    "the type of a log",
    text(`witness Z ${asLog(1)}`, "quorum none"),
    "the key of other.example is of the type of a log",
  ],
  ["quorum 0", text(...W, "group g 0 X1 X2", "quorum g"), "group g wants 0 of 2"],
  ["quorum above n", text(...W, "group g 3 X1 X2", "quorum g"), "group g wants 3 of 2"],
  [
    "a quorum with a zero before it",
    text(...W, "group g 01 X1 X2", "quorum g"),
    "group g wants 01 of 2",
  ],
  [
    "a quorum that is no number",
    text(...W, "group g most X1 X2", "quorum g"),
    "group g wants most of 2",
  ],
  [
    "a group of nobody",
    text(...W, "group g all", "quorum g"),
    "a line is not of the form group <name> <k>|any|all <name>...",
  ],
  ["an unknown quorum", text(...W, "quorum Z"), "Z is not defined before it is named"],
  ["a quorum defined later", text("quorum X1", ...W), "X1 is not defined before it is named"],
  [
    "an unknown member",
    text(...W, "group g any X1 Z", "quorum g"),
    "Z is not defined before it is named",
  ],
  [
    "a group in itself",
    text(...W, "group g any X1 g", "quorum g"),
    "g is not defined before it is named",
  ],
  ["a member twice", text(...W, "group g 2 X1 X1", "quorum g"), "X1 is a member twice"],
  [
    "a member of two groups",
    text(...W, "group g any X1", "group h any X1", "quorum g"),
    "X1 is a member twice",
  ],
  [
    "none as a member",
    text(...W, "group g any none", "quorum g"),
    "none is not defined before it is named",
  ],
  ["none as a name", text(...W, "group none any X1", "quorum none"), "the name none is taken"],
  ["a name twice", text(...W, `witness X1 ${asWitness(50)}`, "quorum X1"), "X1 is defined twice"],
  [
    "a group with a witness' name",
    text(...W, "group X1 any X2", "quorum X1"),
    "X1 is defined twice",
  ],
  ["another word", text("allow all", "quorum none"), 'a line begins with "allow"'],
  ["an upper-case word", text("Quorum none"), 'a line begins with "Quorum"'],
  ["no vkey", text("log", "quorum none"), "a line is not of the form log <vkey> [<url>]"],
  [
    "a word too many",
    text(`${L} more`, "quorum none"),
    "a line is not of the form log <vkey> [<url>]",
  ],
  ["a quorum of two", text(...W, "quorum X1 X2"), "a line is not of the form quorum <name>"],
  ["a carriage return", "quorum none\r\n", "the policy has control characters or is not UTF-8"],
  ["a delete", "# \u007f\nquorum none\n", "the policy has control characters or is not UTF-8"],
  [
    "half a surrogate pair",
    "# \ud800\nquorum none\n",
    "the policy has control characters or is not UTF-8",
  ],
  [
    "a cut-off line",
    text(...W, "quorum X1").slice(0, -1),
    "the last line does not end with a newline",
  ],
  ["nothing", "", "the policy has no quorum line"],
  ["a long text", `#${"a".repeat(65_536)}\nquorum none\n`, "the policy is too long"],
])("%s is refused", (_, policy, fault) => {
  const evidence = testKey("e", "ed25519", 99).key.publicKey;
  expect(parseLogPolicy(policy, [evidence])).toHaveProperty("fault", fault);
});

/** A key that was named by mistake: a policy's faults stand in the log. */
const SEED = `${"c2VjcmV0".repeat(5)}AAA=`;
const OTHER_WORD = "a line begins with none of log, witness, group and quorum";

test.each([
  [
    "of a line",
    text("# who watches", "allow all", "quorum none"),
    'line 2, "allow all": a line begins with "allow"',
  ],
  [
    "that names what is defined later",
    text("", "quorum X1", ...W),
    'line 2, "quorum X1": X1 is not defined before it is named',
  ],
  [
    "of a line's bytes",
    "# from elsewhere\nquorum none\r\n",
    'line 2, "quorum none\\r": the policy has control characters or is not UTF-8',
  ],
  ["of the whole", text(L), "the policy has no quorum line"],
  [
    "of a long line",
    text(`quorum ${"x".repeat(5000)}`),
    `line 1, "quorum ${"x".repeat(93)}": ${"x".repeat(5000)} is not defined before it is named`,
  ],
  ["of a file that holds a key as base64", text(SEED), `line 1: ${OTHER_WORD}`],
  ["of one that solana-keygen wrote", text("[1,2, 3,4]"), `line 1: ${OTHER_WORD}`],
  ["of one of settings", text(`LOG_KEY=${SEED}`), `line 1: ${OTHER_WORD}`],
  ["of one of PEM", text("-----BEGIN PRIVATE KEY-----", SEED), `line 1: ${OTHER_WORD}`],
  [
    "of the bytes of a key",
    text("\u0001\u0002secret"),
    "line 1: the policy has control characters or is not UTF-8",
  ],
])("a fault %s is told with where it is", (_, policy, told) => {
  const read = parseLogPolicy(policy);
  expect("fault" in read && policyFaultText(read)).toBe(told);
});

test("a Kelvin sign is another name than a K, and a non-breaking space separates nothing", () => {
  const [key = ""] = W.map((line) => line.split(" ")[2] ?? "");
  expect(parseLogPolicy(text(`witness \u212a ${key}`, "quorum K"))).toHaveProperty("fault");
  expect(parseLogPolicy(text(`witness \u212a ${key}`, "quorum \u212a"))).toHaveProperty("value");
  expect(parseLogPolicy(text(`witness a\u00a0b ${key}`, "quorum a\u00a0b"))).toHaveProperty(
    "value",
  );
});

test("32 logs, witnesses and groups are read", () => {
  const many = Array.from({ length: 32 }, (_, i) => i);
  const read = parseLogPolicy(
    text(
      ...many.map((i) => `log ${asLog(100 + i, `l${i}`)}`),
      ...many.map((i) => `witness w${i} ${asWitness(150 + i, `w${i}`)}`),
      ...many.map((i) => `group g${i} any w${i}${i > 0 ? ` g${i - 1}` : ""}`),
      "quorum g31",
    ),
  );
  expect(read).toHaveProperty("value");
});

test("a policy that is printed reads as the same policy", () => {
  const mlDsa = printVerifierKey(verifierKey("pq", "ml-dsa-44", new Uint8Array(1312).fill(1)));
  for (const lines of [
    [L, ...W, "group q 2 X1 X2 Y1", "quorum q"],
    [L, `witness pq ${mlDsa} https://pq.example/w`, "quorum none"],
    [...W, "group x any X1 X2", "group y all x Y1", "quorum y"],
    ["quorum none"],
  ]) {
    const read = parseLogPolicy(text(...lines));
    if ("fault" in read) throw new Error(read.fault);
    expect(parseLogPolicy(printLogPolicy(read.value))).toEqual(read);
  }
});
