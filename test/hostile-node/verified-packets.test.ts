import { expect, test } from "bun:test";
import { Cause, Exit } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { witnessEvidence } from "../../core/use-cases/evidence/stored-packet.ts";
import { attested, NETWORK, packetText, TRUST } from "../arbitraries/evidence.ts";
import { tombstoneOf } from "../doubles/tombstone.ts";
import { pendingOf, walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { behindLiar, type Index, type Lie, of } from "./lying-about.ts";

const { custodyProgram } = NETWORK;
const CONFIG = custodyConfigAddress(NETWORK).address;
const { at: CONFIG_AT } = CUSTODY_ACCOUNTS.CustodyConfig;
const { at: ESCROW_AT } = CUSTODY_ACCOUNTS.Escrow;
const { at: TOMBSTONE_AT } = CUSTODY_ACCOUNTS.ArchivedEscrow;
/** Every number of an event of the world is below this. */
const LATER = 1000n;

/**
 * A world with a settled escrow whose attestation verifies, and a Pending one. Its packets are of the world's ledger.
 */
const packetWorld = () => {
  const world = worldOf(12);
  const put = (escrow: Escrow): Escrow => {
    world.putEscrow(escrow);
    return world.escrows.get(escrow.address) ?? escrow;
  };
  const network = { ...NETWORK, genesisHash: world.genesisHash };
  // What is signed names the creation's number, which the ledger gives.
  const settled = attested(worldEscrow(13));
  const { createdSeq } = put(pendingOf(settled));
  const fulfilled = put(attested({ ...settled, createdSeq }, network));
  return { world, network, fulfilled, pending: put(worldEscrow(16)) };
};

const { world, network, fulfilled, pending } = packetWorld();
const trust = { ...TRUST, ...network };

/** What `verify --rpc` says of the account: the outcome of its check, or that a node's answer decides nothing. */
const outcomeOf = async ({ run }: Index, escrow: Escrow): Promise<string> => {
  const packet = packetText(escrow, undefined, null, network);
  const exit = await run(witnessEvidence(packet, trust, 1));
  if (Exit.isFailure(exit)) return `undecided: ${Cause.pretty(exit.cause)}`;
  const { checks } = verifyEvidence(packet, trust, exit.value);
  return checks.find(({ name }) => name === "account_on_ledger")?.outcome ?? "no check";
};

const showing = (data: Uint8Array): Lie => ({ account: of(custodyProgram, () => data) });
const changed = (at: number, byte: number): Lie => ({
  account: of(custodyProgram, (data) => data.with(at, byte)),
});
const released: Escrow = { ...pending, ...releaseOf(pending), settledSeq: pending.createdSeq + 1n };

/** The terms of a release that nobody signed. */
function releaseOf({ amount, createdAt }: Escrow) {
  const { attestation } = worldEscrow(1);
  if (attestation === null) throw new Error("no attestation");
  const at = createdAt + 1n;
  return {
    state: "Fulfilled",
    released: amount,
    deliveries: 1,
    settledAt: at,
    settledBy: "release",
    attestation: { ...attestation, attestedAt: at },
  } as const;
}

type Told = readonly [does: string, of: Escrow, about: Address, lie: Lie];
const CONTRADICTORY: ReadonlyArray<Told> = [
  [
    "shows a tombstone with another state",
    fulfilled,
    fulfilled.address,
    showing(tombstoneOf(fulfilled).with(TOMBSTONE_AT.state, 2)),
  ],
  [
    "shows a tombstone with another creation",
    fulfilled,
    fulfilled.address,
    showing(tombstoneOf(fulfilled).with(TOMBSTONE_AT.createdSeq, 1)),
  ],
  [
    "shows a release with another proof, which nobody signed",
    fulfilled,
    fulfilled.address,
    changed(ESCROW_AT.proofHash, 1),
  ],
  ["counts fewer events", fulfilled, CONFIG, changed(CONFIG_AT.count, 1)],
  ["hides the configuration", fulfilled, CONFIG, { account: () => null }],
  [
    "shows a release that nobody signed",
    pending,
    pending.address,
    showing(encodeEscrowAccount(released)),
  ],
  [
    "shows it archived at a number to come",
    pending,
    pending.address,
    showing(tombstoneOf({ ...released, settledSeq: LATER })),
  ],
];

test.each(CONTRADICTORY)(
  "a node that %s decides nothing about a packet, and a second, honest node does",
  async (_does, escrow, address, is) => {
    for (const honest of [false, true])
      await behindLiar({ address, world, honest }, async ({ index, lie }) => {
        lie(is);
        const said = await outcomeOf(index, escrow);
        if (honest) expect(said).toBe("passed");
        else expect(said).toStartWith("undecided: ");
        lie(null);
        expect(await outcomeOf(index, escrow)).toBe("passed");
      });
  },
  60_000,
);

test(
  "what no rule of the ledger contradicts is the node's word, and the verdict goes by it",
  () =>
    behindLiar({ address: fulfilled.address, world, honest: false }, async ({ index, lie }) => {
      lie({ account: () => null });
      expect(await outcomeOf(index, fulfilled)).toBe("failed");
      lie(showing(encodeEscrowAccount(pendingOf(fulfilled))));
      expect(await outcomeOf(index, fulfilled)).toBe("failed");
      lie({ account: of(walletOf("stranger"), (data) => data) });
      expect(await outcomeOf(index, fulfilled)).toBe("failed");
    }),
  60_000,
);
