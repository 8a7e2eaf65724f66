import { dirname, join } from "node:path";
import { Effect, Layer } from "effect";
import { parseHash32 } from "../../core/domain/hash32.ts";
import type { RebuildApproval } from "../../core/domain/index/index-contradiction.ts";
import { RebuildApprovals } from "../../ports/index/rebuild-approvals.ts";
import { makeFolderDurably, readIfThere, writeDurably } from "../bun/durable-file.ts";

const pathIn = (dataDir: string): string => join(dataDir, "rebuild-approved.json");

/** A count of events, a u64 as decimal digits. */
const COUNT = /^\d{1,20}$/;

const parse = (text: string): RebuildApproval | null => {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const [replaces, head] = [value["replaces"], value["head"]].map((hash) =>
    parseHash32(String(hash)),
  );
  const count = String(value["count"]);
  return replaces === undefined || head === undefined || !COUNT.test(count)
    ? null
    : { replaces, by: { count: BigInt(count), head } };
};

/** Writes the operator's approval into a data directory, in place of an earlier one. Rejects like the file system. */
export const approveRebuild = async (
  dataDir: string,
  { replaces, by }: RebuildApproval,
): Promise<void> => {
  const path = pathIn(dataDir);
  await makeFolderDurably(dirname(path));
  const text = JSON.stringify({ replaces, count: by.count.toString(), head: by.head });
  await writeDurably(path, `${text}\n`, 0o600);
};

/** The approval in a data directory, read each time. */
export const rebuildApprovalFile = (dataDir: string): Layer.Layer<RebuildApprovals> =>
  Layer.succeed(
    RebuildApprovals,
    Effect.tryPromise(() => readIfThere(pathIn(dataDir))).pipe(
      Effect.flatMap((text) => Effect.try(() => (text === null ? null : parse(text)))),
      Effect.orElseSucceed(() => null),
    ),
  );
