import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { Download, Refused, type Screen } from "../shell/screen.ts";
import { filledReceipt } from "./receipt-data.ts";
import { receiptTemplate } from "./receipt-template.ts";

/** `GET /receipts/{pda}`: an escrow's packet as a file that checks itself, with the service's own trust document. */
export const receiptScreen: Screen = {
  path: "/receipts/{pda}",
  show: async ({ params, read, origin }) => {
    const pda = encodeURIComponent(params["pda"] ?? "");
    const [packet, trust] = await Promise.all([
      read<EvidencePacketRecord>(`/v1/evidence/${pda}`),
      read<object>("/.well-known/evidence-trust.json"),
    ]);
    if (packet instanceof Refused) return packet;
    if (trust instanceof Refused) return trust;
    const documents = [
      { name: "packet.json", text: JSON.stringify(packet), service: origin },
      { name: "evidence-trust.json", text: JSON.stringify(trust), service: origin },
    ];
    return new Download(
      "text/html",
      `receipt-${packet.data.escrow.escrow_pda}.html`,
      filledReceipt(await receiptTemplate(), documents),
    );
  },
};
