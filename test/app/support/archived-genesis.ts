import { DEMO_AGE_MS } from "../../../adapters/local-ledger/genesis/demo-data.ts";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { LOCAL_FAUCET } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { runLocally } from "../../../adapters/local-ledger/genesis/local-transactions.ts";
import type { LocalLedger } from "../../../adapters/local-ledger/runtime/ledger.ts";
import { address } from "../../../core/domain/address.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { archiveEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";

/** The demo data's released escrow; see README.md. */
export const RELEASED_ESCROW = address("H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG");
const SEVEN_DAYS_MS = 604_800_000;

const archive = (ledger: LocalLedger): Uint8Array => {
  const account = ledger.accounts.read(RELEASED_ESCROW, "processed");
  if (account === undefined) throw new Error("the demo data has no such escrow");
  const lastBytes = Uint8Array.from(account.data);
  const decoded = decodeEscrowAccount(
    { address: RELEASED_ESCROW, owner: LOCAL_DEPLOYMENT.custodyProgram, data: lastBytes },
    LOCAL_DEPLOYMENT,
  );
  if ("fault" in decoded) throw new Error(decoded.fault);
  const { rentPayer } = decoded.value;
  const instruction = archiveEscrowInstruction(LOCAL_DEPLOYMENT, {
    escrow: RELEASED_ESCROW,
    rentPayer,
    lastBytes,
  });
  runLocally(ledger, LOCAL_FAUCET, [], [instruction]);
  return lastBytes;
};

/**
 * The demo data, and a week later its released escrow archived; `archived` gets the account's last bytes, and may act
 * on the ledger.
 */
export const archivedGenesis = (
  archived: (lastBytes: Uint8Array, ledger: LocalLedger) => void = () => {},
) => ({
  ageMs: DEMO_AGE_MS + SEVEN_DAYS_MS,
  fill: (ledger: LocalLedger, advance: (ms: number) => void) => {
    localGenesis({ demo: true }).fill(ledger, advance);
    advance(SEVEN_DAYS_MS);
    archived(archive(ledger), ledger);
    advance(1000);
  },
});
