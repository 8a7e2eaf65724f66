import { address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";

/**
 * Where both programs stand on a local ledger, and the `address` in their IDLs. The texts were chosen, not
 * generated: nobody holds a key to them, so nothing can be deployed there on a public cluster.
 */
export const LOCAL_DEPLOYMENT: Deployment = {
  custodyProgram: address("EvidenceCustody1111111111111111111111111111"),
  attestorProgram: address("EvidenceAttestor111111111111111111111111111"),
};
