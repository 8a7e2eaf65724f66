import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { quietEnvironment } from "../../app/support/running-service.ts";

/** The settings of a service on the nodes at these addresses. */
export const environmentOn = (urls: string, dataDir: string) => ({
  ...quietEnvironment(dataDir),
  SOLANA_RPC_URL: urls,
  CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
  SYNC_INTERVAL_SECONDS: "1",
});
