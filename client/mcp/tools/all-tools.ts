import type { Tool } from "../tool.ts";
import { findEscrows } from "./find-escrows.ts";
import { findMerchants } from "./find-merchants.ts";
import { prepareAttestation } from "./prepare-attestation.ts";
import { preparePayment } from "./prepare-payment.ts";
import { prepareSettlement } from "./prepare-settlement.ts";
import { readEscrow } from "./read-escrow.ts";
import { readEvidence } from "./read-evidence.ts";
import { relayOutcome } from "./relay-outcome.ts";
import { relayTransaction } from "./relay-transaction.ts";
import { serviceStatus } from "./service-status.ts";

/** Every tool, in the order of a payment's life. At most ten: a model reads all of them before its first step. */
export const ALL_TOOLS: ReadonlyArray<Tool> = [
  serviceStatus,
  findMerchants,
  preparePayment,
  relayTransaction,
  relayOutcome,
  readEscrow,
  prepareAttestation,
  prepareSettlement,
  readEvidence,
  findEscrows,
];
