import type { ProofTemplate } from "./proof-template.ts";
import apiDelivered from "./proof-templates/api-delivered-v1.json" with { type: "json" };
import datasetDelivered from "./proof-templates/dataset-delivered-v1.json" with { type: "json" };
import goodsDelivered from "./proof-templates/goods-delivered-v1.json" with { type: "json" };
import ticketIssued from "./proof-templates/ticket-issued-v1.json" with { type: "json" };
import travelBooking from "./proof-templates/travel-booking-confirmed-v1.json" with { type: "json" };

/** Every proof template, API and data first. A new one is a file beside these and a line here. */
export const PROOF_TEMPLATES = [
  apiDelivered,
  datasetDelivered,
  travelBooking,
  ticketIssued,
  goodsDelivered,
] as ReadonlyArray<ProofTemplate>;
