import type { EvidencePacketRecord } from "../../../adapters/http/evidence/evidence-contract.ts";
import { until } from "./running-service.ts";

/**
 * A packet of a service with a log, and its entity tag. Waits until it refers to all that there is: the log is
 * published some time after the first sync, and a transaction is found when its history answers.
 */
export const completePacket = (url: string, escrow: string) =>
  until(
    "the packet has its transactions and its place in the log",
    async () => {
      const response = await fetch(`${url}/v1/evidence/${escrow}`);
      return { etag: response.headers.get("etag"), body: await response.text() };
    },
    ({ body }) => {
      const { not_found, log } = (JSON.parse(body) as EvidencePacketRecord).references;
      return not_found.length === 0 && log !== null;
    },
  );
