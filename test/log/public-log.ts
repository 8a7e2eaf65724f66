import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buy, deliver, registerMerchant } from "../../app/demo/run-demo.ts";
import { openStage } from "../../app/demo/stage.ts";
import { judgeCheckpoint } from "../../core/log/policy/judge-checkpoint.ts";
import { parseLogPolicy } from "../../core/log/policy/parse-log-policy.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { silentNarrator } from "../app/commands/silent-narrator.ts";
import { completePacket } from "../app/support/complete-packet.ts";
import { publishedBy } from "../app/support/log-client.ts";
import { quietEnvironment, runService, until } from "../app/support/running-service.ts";
import type { PublicWitness } from "./public-witnesses.ts";

/** Sizes at which the log is published on the way, one after another. */
const ESCROWS = 3;

/** A service on an embedded ledger that asks no witness yet, and its log's verifier key. */
export const startPublicLog = async (folder: string) => {
  const policy = join(folder, "append-only.txt");
  await writeFile(policy, "quorum none\n");
  const service = await runService({
    ...quietEnvironment(join(folder, "data")),
    SYNC_INTERVAL_SECONDS: "1",
    LOG_WITNESSES_APPEND_ONLY: policy,
  });
  type Status = { readonly data: { readonly log: { readonly vkey: string | null } | null } };
  const vkey = await until(
    "the log has a key",
    async () => {
      const status = (await (await fetch(`${service.url}/v1/status`)).json()) as Status;
      return status.data.log?.vkey ?? null;
    },
    (key) => key !== null,
  );

  /**
   * Has the log ask witnesses, and pays: what is wrong with the published checkpoints and with the verdict of a packet.
   */
  const faultsWith = async (
    witnesses: ReadonlyArray<PublicWitness>,
  ): Promise<ReadonlyArray<unknown>> => {
    const lines = [
      ...witnesses.map(({ name, key, url }) => `witness ${name} ${key} ${url}`),
      `group all-of-them all ${witnesses.map(({ name }) => name).join(" ")}`,
      "quorum all-of-them",
      "",
    ];
    await writeFile(policy, lines.join("\n"));
    const read = parseLogPolicy([`log ${vkey}`, ...lines].join("\n"), []);
    if ("fault" in read) return [read.fault];
    const publishedBeyond = (size: number) =>
      until(
        `more than ${size} leaves are published with all cosignatures`,
        async () => {
          const published = await publishedBy(service.url);
          const judged = published && judgeCheckpoint(read.value, published.note);
          const isMet = judged !== null && "value" in judged && judged.value.quorum.isMet;
          return isMet ? (published?.checkpoint.size ?? 0) : 0;
        },
        (found) => found > size,
        60,
      );
    let size = await publishedBeyond(0);
    const stage = await openStage(service.url, silentNarrator);
    await registerMerchant(stage);
    let last = "";
    for (let paid = 0; paid < ESCROWS; paid++) {
      const escrow = await buy(stage, { units: 1n, ttl: 3600 });
      await deliver(stage, escrow);
      last = escrow.escrow_pda;
      size = await publishedBeyond(size);
    }
    const { body } = await completePacket(service.url, last);
    const document = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
    const trust = parseTrustPolicy(document);
    if ("fault" in trust) return [trust.fault];
    const { verdict, checks } = verifyEvidence(body, trust.value);
    const outcomes = Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
    const { account_on_ledger: account, witnessed_append_only: appendOnly } = outcomes;
    return verdict === "verified" && account === "unproven" && appendOnly === "passed"
      ? []
      : [{ verdict, account, appendOnly }];
  };
  return { vkey: vkey ?? "", faultsWith, stop: service.stop };
};
