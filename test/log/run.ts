import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readCommandLine } from "../../app/command-line/command-line.ts";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { hash32ToBytes } from "../../core/domain/hash32.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { printHash } from "../../core/log/text-values.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { tmpdir } from "../temporary-root.ts";
import { findGo, startOracle } from "./go-oracle.ts";
import { foldOf as hexFoldOf, grownAccounts, largeLogs } from "./ledger-accounts.ts";
import { inventedEscrowFaults, LYING_LOG } from "./invented-escrow.ts";
import { servedStates } from "./ledger-log.ts";
import { loggedTree } from "./logged-tree.ts";
import { flippedNoteCases, noteCases, SIGNERS } from "./note-cases.ts";
import { flippedProofCases, proofCases } from "./proof-cases.ts";
import { startPublicLog } from "./public-log.ts";
import { startPublicWitnesses } from "./public-witnesses.ts";
import { RELEASE_LOG, releaseLogFaults } from "./release-log.ts";

const HELP = `Go's sumdb/tlog and sumdb/note judge what core/log makes, and the roots that the custody program keeps. Tessera's
fsck judges the log of an embedded ledger by the root in that ledger's account. litewitness and the core of omniwitness
cosign its log, a log of releases, and that of a service which invents escrows. LOG_SEED chooses other cases. Skips without Go.

usage: bun run test:more log [--quick]

  --quick   fewer and smaller cases
  --help    this text

Ends with 1 when the two differ.
`;

const { quick } = readCommandLine(HELP, { quick: { type: "boolean", default: false } }).values;
const go = findGo();
if (go === undefined) {
  console.log("test:more log: skipped, nothing was compared. Go is not on the PATH.");
  process.exit(0);
}
// The service sets the same function when it starts.
provideSha256(sha256Bun);

const LEAVES = quick ? 3000 : 70_000;
const PROOFS = quick ? 2000 : 100_000;
const FLIPS = quick ? 1000 : 10_000;
const CHECKPOINTS = quick ? 50 : 1000;
/** Sizes at which the real custody program's account is read, from 1 on. */
const ACCOUNTS = 2000;
const LARGE_LOGS = quick ? 100 : 1000;
/** Sizes of an embedded ledger's log at which fsck looks. */
const LEDGER_SIZES = quick ? [9, 12] : [9, 255, 256, 270];
/** Releases that are logged: beyond the width of a tile. */
const RELEASES = quick ? 20 : 260;
const TREES = [1, 2, 255, 256, 257, 511, 3000, ...(quick ? [] : [65_535, 65_536, 65_537, 70_000])];
/** Cases that are held at once. */
const BATCH = 1000;

const seed = Number(process.env["LOG_SEED"] ?? "1");
const random = seededRandom(seed);
const folder = await mkdtemp(join(tmpdir(), "log-oracle-"));
process.on("exit", () => void Bun.spawnSync(["rm", "-rf", folder]));
const oracle = await startOracle(go, folder);

const FRONTIER_AT = CUSTODY_ACCOUNTS.CustodyConfig.at.frontier;
/** The root that core/log folds from an account, in base64. */
const foldOf = (account: Uint8Array): string => printHash(hash32ToBytes(hexFoldOf(account)));

let passed = 0;
let failed = 0;
const check = async (
  what: string,
  faults: () => Promise<ReadonlyArray<unknown>>,
): Promise<void> => {
  const found = await faults();
  if (found.length === 0) passed += 1;
  else failed += 1;
  console.log(`(${found.length === 0 ? "pass" : "fail"}) ${what}`);
  for (const each of found.slice(0, 3)) console.log(JSON.stringify(each));
};

/** What is wrong with cases that are made, asked and judged a batch at a time. */
const inBatches = async <T extends { readonly question: Parameters<typeof oracle.ask>[0][number] }>(
  count: number,
  make: (count: number) => ReadonlyArray<T>,
  isRight: (one: T, said: Awaited<ReturnType<typeof oracle.ask>>[number]) => boolean,
): Promise<ReadonlyArray<unknown>> => {
  const faults: Array<unknown> = [];
  for (let done = 0; done < count; done += BATCH) {
    const cases = make(Math.min(BATCH, count - done));
    const answers = await oracle.ask(cases.map(({ question }) => question));
    for (const [i, said] of answers.entries()) {
      const one = cases[i];
      if (one === undefined || !isRight(one, said)) faults.push({ ...one, said });
    }
  }
  return faults;
};

const tree = loggedTree(LEAVES);
await check(`Go's tree of ${LEAVES} leaves has the same root`, async () => {
  const question = { kind: "grow", leaves: LEAVES, root: printHash(tree.head.root) } as const;
  return (await oracle.ask([question])).filter(({ same }) => !same);
});
await check(`${PROOFS} inclusion and consistency proofs verify in both, and are Go's`, () =>
  inBatches(
    PROOFS,
    (count) => proofCases(tree, random, count),
    (one, said) => one.verifies && said.verifies && said.same,
  ),
);
await check(`${FLIPS} proofs with a flipped bit verify in neither`, () =>
  inBatches(
    FLIPS,
    (count) => flippedProofCases(tree, random, count),
    (one, said) => !one.verifies && !said.verifies,
  ),
);
await check(`${CHECKPOINTS} cosigned checkpoints verify in both`, () =>
  inBatches(
    CHECKPOINTS,
    (count) => noteCases(tree, random, count),
    ({ text, signers }, said) =>
      Bun.deepEquals(signers, SIGNERS) &&
      said.verifies &&
      said.read === text &&
      Bun.deepEquals(said.names, SIGNERS),
  ),
);
// A bit in a line's name or id makes it a stranger's, which is passed over. Go reads base64 with stray bits, core/log
// does not.
await check(`${FLIPS} checkpoints with a flipped bit have one signer fewer or none`, () =>
  inBatches(
    FLIPS,
    (count) => flippedNoteCases(tree, random, count),
    ({ text, signers }, said) =>
      (signers === null || (signers.length === SIGNERS.length - 1 && said.verifies)) &&
      (!said.verifies || said.read === text),
  ),
);
for (const size of TREES)
  await check(`the tiles of ${size} leaves give Go the same root`, async () => {
    const files = join(folder, String(size));
    const built = loggedTree(size);
    for (const [path, bytes] of built.tiles) {
      await mkdir(dirname(join(files, path)), { recursive: true });
      await Bun.write(join(files, path), bytes);
    }
    const root = printHash(built.head.root);
    const answers = await oracle.ask([{ kind: "tiles", folder: files, size, root }]);
    await rm(files, { recursive: true });
    const hashTiles = [...built.tiles.keys()].filter((path) => !path.includes("entries")).length;
    return answers.filter(
      ({ verifies, same, read }) => !verifies || !same || Number(read) !== hashTiles,
    );
  });
await check(
  `at each size from 1 to ${ACCOUNTS} what the custody program keeps folds to Go's root`,
  async () => {
    const faults: Array<unknown> = [];
    let size = 0;
    for (const { account, leaf } of grownAccounts(ACCOUNTS)) {
      size += 1;
      const [said] = await oracle.ask([
        {
          kind: "account",
          account: account.toBase64(),
          entries: [leaf.toBase64()],
          root: foldOf(account),
        },
      ]);
      if (said?.verifies !== true || !said.same || said.read !== String(size)) faults.push(said);
    }
    return faults;
  },
);
await check(
  `and after three events each from the largest size, those around 2^39 and ${LARGE_LOGS} random ones on`,
  async () => {
    const faults: Array<unknown> = [];
    for (const { size, before, grown } of largeLogs(random, LARGE_LOGS))
      for (const [at, { account }] of grown.entries()) {
        const entries = grown.slice(0, at + 1).map(({ leaf }) => leaf.toBase64());
        const [said] = await oracle.ask([
          {
            kind: "account",
            account: account.toBase64(),
            before: before.toBase64(),
            entries,
            root: foldOf(account),
          },
        ]);
        if (said?.verifies !== true || !said.same || said.read !== String(size + at + 1))
          faults.push(said);
      }
    return faults;
  },
);
const states = await servedStates(LEDGER_SIZES, join(folder, "ledger"));
for (const { size, account, root, folder: files } of states) {
  const asked = { folder: files, account: account.toBase64(), root: printHash(root) };
  await check(
    `the ledger's account of ${size} leaves has the root of the log's tiles, for sumdb`,
    async () =>
      (await oracle.ask([{ kind: "tiles", ...asked }])).filter(
        ({ verifies, same }) => !verifies || !same || foldOf(account) !== asked.root,
      ),
  );
  await check(
    `and for tessera's fsck, which refuses it with one bit of the account turned`,
    async () => {
      const other = account.slice();
      // The lowest level that the size has: a node that counts.
      const at = FRONTIER_AT + 32 * Math.log2(size & -size);
      other[at] = (other[at] ?? 0) ^ 1;
      const [whole, turned] = await oracle.ask([
        { kind: "fsck", ...asked },
        { kind: "fsck", ...asked, account: other.toBase64() },
      ]);
      const isRight =
        whole?.verifies === true && whole.read === String(size) && turned?.verifies === false;
      return isRight ? [] : [{ whole, turned }];
    },
  );
}
await oracle.stop();

// Witnesses as anybody may run them: they see that a log grows, and never look at a ledger.
const places = await Promise.all(
  ["log", "witnesses"].map(async (name) => {
    const path = join(folder, name);
    await mkdir(path);
    return path;
  }),
);
const publicLog = await startPublicLog(places[0] ?? folder);
const ordinary = await startPublicWitnesses(go, places[1] ?? folder, [
  publicLog.vkey,
  LYING_LOG,
  RELEASE_LOG,
]);
await check(
  "litewitness and omniwitness's core cosign a log of releases, of which each is proved",
  () => releaseLogFaults(folder, ordinary.witnesses, RELEASES),
);
await check("litewitness and omniwitness's core cosign a service's log as it grows", () =>
  publicLog.faultsWith(ordinary.witnesses),
);
await check("a quorum of them proves no invented escrow, in whichever form they are named", () =>
  inventedEscrowFaults(ordinary.witnesses),
);
await ordinary.stop();
await publicLog.stop();
console.log(`\nseed ${seed}\n\n ${passed} pass\n ${failed} fail`);
process.exit(failed === 0 ? 0 : 1);
