import { address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";

/**
 * The addresses of both programs on a local ledger, which are also the `address` in their IDLs. The texts were chosen, not
 * generated: nobody holds a key to them, so nothing can be deployed there on a public cluster.
 */
export const LOCAL_DEPLOYMENT: Deployment = {
  custodyProgram: address("EvidenceCustody1111111111111111111111111111"),
  attestorProgram: address("EvidenceAttestor111111111111111111111111111"),
};
