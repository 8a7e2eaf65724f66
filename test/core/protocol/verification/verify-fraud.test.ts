import { describe, expect, test } from "bun:test";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import { type Checkpoint, checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { printSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { printVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { eventsIn } from "../../../../core/log/tree/frontier.ts";
import { subtreesOf } from "../../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { address } from "../../../../core/domain/address.ts";
import {
  type FraudInputs,
  fraudTiles,
  makeFraud,
} from "../../../../core/protocol/verification/make-fraud.ts";
import {
  type FraudFile,
  verifyFraud,
} from "../../../../core/protocol/verification/verify-fraud.ts";
import { NETWORK, TRUST } from "../../../arbitraries/evidence.ts";
import {
  checkpointNote,
  LOG_KEY,
  logLine,
  logPolicyText,
  type NoteKey,
  noteKey,
  originOf,
  tileBytes,
  type Tree,
  treeOf,
  WITNESSES,
} from "../../../conformance/evidence/log-world.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";

const SECOND = noteKey(LOG_KEY.key.name, "ed25519", 45);
const STRANGER = noteKey(LOG_KEY.key.name, "ed25519", 46);
const POLICY: TrustPolicy = {
  ...TRUST,
  logOnLedger: logPolicyText(undefined, undefined, [LOG_KEY, SECOND]),
};
const DEPLOYMENT = {
  custodyProgram: address(NETWORK.custodyProgram),
  attestorProgram: address(NETWORK.attestorProgram),
};

const TRUE_TREE = treeOf(300, new Map());
const FALSE_TREE = treeOf(300, new Map([[7n, Uint8Array.of(1)]]));
const headOf = ({ size, root }: Tree): Checkpoint => ({ origin: LOG_KEY.key.name, size, root });
const note = (tree: Tree, log: NoteKey = LOG_KEY, more: Partial<Checkpoint> = {}): string =>
  checkpointNote({ ...headOf(tree), ...more }, WITNESSES.slice(0, 1), log);

const account = (tree: Tree, genesis = NETWORK.genesisHash) => {
  const roots = subtreesOf({ from: 0, to: tree.size }).map(tree.source);
  return custodyConfigAccount(
    DEPLOYMENT,
    eventsIn(new TreeEdge(tree.size, roots)),
    address(genesis),
  );
};

const made = (inputs: Partial<FraudInputs>, trust = POLICY): FraudFile | null =>
  makeFraud({ checkpoints: [], accounts: [], tiles: new Map(), ...inputs }, trust);

const fileOf = (inputs: Partial<FraudInputs>): FraudFile => {
  const file = made(inputs);
  if (file === null) throw new Error("these inputs show a fraud");
  return file;
};

const judged = (file: unknown, trust: TrustPolicy | null = POLICY) =>
  verifyFraud(JSON.stringify(file), trust);

const tilesFor = (checkpoints: ReadonlyArray<string>, tree: Tree) =>
  new Map(
    fraudTiles(checkpoints, POLICY).map((path) => [
      path,
      tileBytes(tree, path) ?? new Uint8Array(),
    ]),
  );

const SMALLER = treeOf(120, new Map());
const CONTRADICTING = [note(SMALLER), note(FALSE_TREE)];
/** Inputs that convict the log, by the kind of what they show. */
const CONVICTING: Readonly<Record<FraudFile["kind"], Partial<FraudInputs>>> = {
  two_roots: { checkpoints: [note(TRUE_TREE), note(FALSE_TREE)] },
  not_the_ledgers_root: { checkpoints: [note(FALSE_TREE)], accounts: [account(TRUE_TREE)] },
  not_consistent: { checkpoints: CONTRADICTING, tiles: tilesFor(CONTRADICTING, FALSE_TREE) },
  after_its_end: {
    checkpoints: [note(TRUE_TREE), note(SMALLER, LOG_KEY, { isLast: true })],
  },
};
const KINDS = Object.entries(CONVICTING);

describe("a file of what convicts a log", () => {
  test.each(KINDS)("%s is made and verifies offline", (kind, inputs) => {
    const file = fileOf(inputs);
    expect(file.kind).toBe(kind as FraudFile["kind"]);
    expect(file.log_keys).toEqual([printVerifierKey(LOG_KEY.key)]);
    const unproven = kind === "not_the_ledgers_root" ? ["config_on_ledger"] : [];
    expect(judged(file)).toMatchObject({ verdict: "verified", kind, unproven });
    expect(judged(file, null)).toMatchObject({ verdict: "untrusted", kind });
  });

  test.each(KINDS)(
    "%s shows nothing of a log that the trust document does not name",
    (_, inputs) => {
      const file = fileOf(inputs);
      const other = { ...POLICY, logOnLedger: logPolicyText(undefined, undefined, [SECOND]) };
      expect(judged(file, other)).toMatchObject({ verdict: "failed", kind: null });
      expect(judged(file, { ...POLICY, logOnLedger: null }).verdict).toBe("failed");
      expect(made(inputs, other)).toBeNull();
    },
  );

  test.each(KINDS)(
    "%s: no other kind, no part less, and no note of a stranger's is taken",
    (_, inputs) => {
      const file = fileOf(inputs);
      for (const [kind] of KINDS)
        if (kind !== file.kind) expect(judged({ ...file, kind }).verdict).toBe("failed");
      expect(judged({ ...file, checkpoints: file.checkpoints.slice(1) }).verdict).toBe("failed");
      expect(judged({ ...file, log_keys: [] }).verdict).toBe("failed");
      expect(judged({ ...file, log_keys: [printVerifierKey(STRANGER.key)] }).verdict).toBe(
        "failed",
      );
      expect(judged({ ...file, more: 1 }).verdict).toBe("failed");
      const { kind: _kind, ...without } = file;
      expect(judged(without).verdict).toBe("failed");
    },
  );

  test.each(KINDS)("%s: no flipped bit of it verifies", (_, inputs) => {
    const file = fileOf(inputs);
    const text = JSON.stringify(file);
    const at = (part: string): number => text.indexOf(JSON.stringify(part).slice(1, -1));
    // The witnesses' lines are nobody's business here: only what the log signed, and what contradicts it.
    const parts = [
      ...file.checkpoints.map((each) => each.slice(0, each.indexOf("\n— alpha"))),
      ...(file.consistency === null ? [] : [file.consistency.root, ...file.consistency.proof]),
    ];
    for (const part of parts)
      for (let i = 0; i < part.length; i += 7) {
        const from = at(part) + i;
        const flipped = `${text.slice(0, from)}${text[from] === "A" ? "B" : "A"}${text.slice(from + 1)}`;
        if (flipped !== text) expect(verifyFraud(flipped, POLICY).verdict).not.toBe("verified");
      }
  });
});

test("two keys of an overlap convict their log together", () => {
  const file = fileOf({ checkpoints: [note(TRUE_TREE), note(FALSE_TREE, SECOND)] });
  expect(file.log_keys).toEqual([LOG_KEY, SECOND].map(({ key }) => printVerifierKey(key)));
  expect(judged(file).verdict).toBe("verified");
  const text = checkpointText(headOf(TRUE_TREE));
  const both = printSignedNote({
    text,
    signatures: [logLine(LOG_KEY, text), logLine(SECOND, text)],
  });
  expect(judged(fileOf({ checkpoints: [both, note(FALSE_TREE)] })).verdict).toBe("verified");
});

describe("an honest log is not convicted", () => {
  const other = noteKey(originOf(NETWORK, 1), "ed25519", 30);
  test.each<readonly [string, Partial<FraudInputs>]>([
    ["one checkpoint twice", { checkpoints: [note(TRUE_TREE), note(TRUE_TREE)] }],
    ["one head under two keys", { checkpoints: [note(TRUE_TREE), note(TRUE_TREE, SECOND)] }],
    [
      "the last checkpoint of a size signed before",
      {
        checkpoints: [note(TRUE_TREE), note(TRUE_TREE, LOG_KEY, { isLast: true })],
      },
    ],
    [
      "a smaller checkpoint than its last",
      {
        checkpoints: [note(SMALLER), note(TRUE_TREE, LOG_KEY, { isLast: true })],
      },
    ],
    [
      "a tree that grew",
      {
        checkpoints: [note(SMALLER), note(TRUE_TREE)],
        tiles: tilesFor([note(SMALLER), note(TRUE_TREE)], TRUE_TREE),
      },
    ],
    [
      "another tree's tiles",
      {
        checkpoints: [note(SMALLER), note(TRUE_TREE)],
        tiles: tilesFor([note(SMALLER), note(TRUE_TREE)], FALSE_TREE),
      },
    ],
    ["the ledger's root", { checkpoints: [note(TRUE_TREE)], accounts: [account(TRUE_TREE)] }],
    [
      "an account of another size",
      { checkpoints: [note(SMALLER)], accounts: [account(TRUE_TREE)] },
    ],
    [
      "an account of another ledger",
      {
        checkpoints: [note(FALSE_TREE)],
        accounts: [account(TRUE_TREE, NETWORK.custodyProgram)],
      },
    ],
    [
      "an account of another program",
      {
        checkpoints: [note(FALSE_TREE)],
        accounts: [{ ...account(TRUE_TREE), owner: DEPLOYMENT.attestorProgram }],
      },
    ],
    ["another root by a stranger", { checkpoints: [note(TRUE_TREE), note(FALSE_TREE, STRANGER)] }],
    [
      "another root by another log",
      {
        checkpoints: [note(TRUE_TREE), note(FALSE_TREE, other, { origin: other.key.name })],
      },
    ],
    ["texts that are no notes", { checkpoints: ["", "{}", "a\n\nb\n"] }],
  ])("%s", (_, inputs) => {
    expect(made(inputs)).toBeNull();
  });
});

test("a file of another version is not judged; one that is none fails", () => {
  expect(judged({ version: "settlement-evidence-fraud-v2" }).verdict).toBe("unsupported_version");
  for (const text of ["", "[]", "{}", '{"version":"settlement-evidence-v2"}', "\u{feff}{}"])
    expect(verifyFraud(text, POLICY).verdict).toBe("failed");
  expect(verifyFraud(new Uint8Array(2_000_000).fill(32), POLICY).verdict).toBe("failed");
});
