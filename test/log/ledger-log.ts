import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buy, deliver, registerMerchant } from "../../app/demo/run-demo.ts";
import { openStage } from "../../app/demo/stage.ts";
import { parseCheckpoint } from "../../core/log/checkpoint/checkpoint.ts";
import { fullTilesSince, partialTiles, tilePath } from "../../core/log/tiles/tile-path.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { silentNarrator } from "../app/commands/silent-narrator.ts";
import { quietEnvironment, runService, until, untilReady } from "../app/support/running-service.ts";

/** The embedded ledger's configuration account as its node shows it at `finalized`, the whole bytes. */
const readAccount = async (rpcUrl: string): Promise<Uint8Array> => {
  const { address } = custodyConfigAddress(LOCAL_DEPLOYMENT);
  const answer = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [address, { encoding: "base64", commitment: "finalized" }],
    }),
  });
  const { result } = (await answer.json()) as { result: { value: { data: [string, string] } } };
  return Uint8Array.fromBase64(result.value.data[0]);
};

const sizeIn = (account: Uint8Array): number =>
  Number(
    new DataView(account.buffer, account.byteOffset).getBigUint64(
      CUSTODY_ACCOUNTS.CustodyConfig.at.count,
      true,
    ),
  );

/** A state of an embedded ledger, and its log as the service beside it serves that. */
export type ServedState = {
  readonly size: number;
  /** The bytes of the ledger's own account. */
  readonly account: Uint8Array;
  /** The root in the log's checkpoint of the same size. */
  readonly root: Uint8Array;
  /** Holds every tile and every bundle of that size. */
  readonly folder: string;
};

/**
 * Pays and delivers on an embedded ledger until its log has at least that number of leaves, and saves what the log serves at
 * each of these sizes.
 */
export const servedStates = async (
  sizes: ReadonlyArray<number>,
  folder: string,
): Promise<ReadonlyArray<ServedState>> => {
  const service = await runService({
    ...quietEnvironment(join(folder, "data")),
    SYNC_INTERVAL_SECONDS: "1",
  });
  const published = async () => {
    const answer = await fetch(`${service.url}/log/checkpoint`);
    const parsed = parseCheckpoint(await answer.text());
    return "fault" in parsed ? null : parsed.value.checkpoint;
  };
  const save = async (size: number): Promise<ServedState> => {
    const account = await until(
      `the ledger's account has ${size} leaves`,
      () => readAccount(service.rpcUrl),
      (bytes) => sizeIn(bytes) === size,
    );
    const checkpoint = await until(
      `the log is signed to ${size} leaves`,
      published,
      (found) => found?.size === size,
    );
    const files = join(folder, String(size));
    for (const tile of [...fullTilesSince(0, size), ...partialTiles(size)]) {
      const path = tilePath(tile);
      const answer = await fetch(`${service.url}/log/${path}`);
      if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`);
      await mkdir(dirname(join(files, path)), { recursive: true });
      await Bun.write(join(files, path), await answer.bytes());
    }
    return { size, account, root: checkpoint?.root ?? new Uint8Array(), folder: files };
  };
  try {
    await untilReady(service.url);
    const stage = await openStage(service.url, silentNarrator);
    await registerMerchant(stage);
    let size = sizeIn(await readAccount(service.rpcUrl));
    const states: Array<ServedState> = [];
    for (const wanted of sizes) {
      while (size < wanted) {
        const escrow = await buy(stage, { units: 1n, ttl: 3600 });
        size += 1;
        if (size === wanted) break;
        await deliver(stage, escrow);
        size += 1;
      }
      states.push(await save(size));
    }
    return states;
  } finally {
    await service.stop();
  }
};
