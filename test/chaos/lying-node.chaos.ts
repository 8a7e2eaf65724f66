import { expect, test } from "bun:test";
import { Exit } from "effect";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { ChainNode } from "../world/chain-node.ts";
import { accountOf } from "../doubles/accounts.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { mutatedAccount } from "./support/faults/mutated-account.ts";

const MUTATED = amountOf({ quick: 2_000, long: 50_000 });
const ESCROWS = 200;

test(
  "no account that a lying node makes up is stored, and each that contradicts itself is counted",
  async () => {
    const node = worldOf(ESCROWS);
    const random = randomOf("lies");
    const kinds = new Map<string, number>();
    // An account does not name its vault, so only the log's root tells a false bump of it.
    let consistent = 0;
    for (let number = 0; number < MUTATED; number++) {
      const { address, kind, account } = mutatedAccount(number, random);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (kind === "vault_bump" && address === account.address) consistent += 1;
      const { owner, data } = account;
      const listedBy = LOCAL_DEPLOYMENT.custodyProgram;
      node.put({ ...accountOf(address, owner, data), listedBy });
    }
    using served = serveNode(new ChainNode(node).answer);
    const path = freshPath("lies.sqlite");
    const index = await openIndexOfNode({ url: served.url, path });
    const exit = await index.sync();
    await index.close();
    if (Exit.isFailure(exit)) throw new Error(`seed ${SEED}: the sync failed`);
    const { escrows, rejected } = exit.value;
    tell(`${escrows.rejected} of ${MUTATED} made-up accounts refused, of ${kinds.size} kinds`);
    expect(escrows, `seed ${SEED}`).toEqual({
      seen: ESCROWS + MUTATED - consistent,
      created: ESCROWS,
      updated: 0,
      unchanged: 0,
      rejected: MUTATED - consistent,
    });
    expect(consistent).toBeGreaterThan(0);
    expect(rejected).toHaveLength(100);
    await expectIndexOf(path, node);
  },
  LONG_MS,
);
