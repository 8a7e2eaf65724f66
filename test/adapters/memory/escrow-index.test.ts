import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";

escrowIndexContract(
  "escrowIndexMemory",
  () => escrowIndexMemory({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
  40,
);
