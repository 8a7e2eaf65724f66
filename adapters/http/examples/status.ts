import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import type { Address } from "../../../core/domain/address.ts";
import { statusRecord } from "../records/status.ts";
import { hashExample } from "./rows.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";

const program = (address: Address) => ({
  address,
  deployed: true,
  executable: true,
  upgradeAuthority: sampleParties().agent,
  sha256: hashExample(address),
});

/** The status of a service whose ledger and index work. */
export const statusExample = () =>
  statusRecord(
    {
      status: "online",
      network: {
        cluster: "localnet",
        address: "http://127.0.0.1:8899",
        genesisHash: SAMPLE.genesisHash,
        slot: SAMPLE.slot,
        latencyMs: 1,
        healthy: true,
      },
      custody: program(LOCAL_DEPLOYMENT.custodyProgram),
      attestor: program(LOCAL_DEPLOYMENT.attestorProgram),
      index: {
        escrows: 4,
        merchants: 2,
        events: 7,
        mark: {
          slot: SAMPLE.slot - 2n,
          ledgerTime: SAMPLE.createdAt,
          atMs: Number(SAMPLE.createdAt) * 1000,
        },
        running: false,
        lastError: null,
        snapshotError: null,
        snapshotFailures: 0,
        progress: null,
        lagSlots: 2n,
      },
    },
    "1.0.0-devnet",
  );
