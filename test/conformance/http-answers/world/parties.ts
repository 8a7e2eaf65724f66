import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { merchantAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { CREATED_AT } from "../../../adapters/http/support/parties.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";

/** The agent of most escrows, and one with a single escrow and a frozen token account. */
export const AGENT = wallet("agent");
export const OTHER_AGENT = wallet("other agent");
/** Signs the delivery claims of every merchant. */
export const ATTESTOR = wallet("attestor");
/** Signs the vouchers of the sessions. */
export const SESSION_KEY = wallet("session key");
/** Sends and pays for relayed transactions; it has lamports. */
export const RELAYER = wallet("relayer");
/** A wallet without any account. */
export const STRANGER = wallet("stranger");
/** A mint that the instance does not support. */
export const OTHER_MINT = wallet("other mint").address;
/** The suspended merchant's attestor key before its rotation. */
export const FORMER_ATTESTOR = wallet("former attestor");

const registered = (name: string, other: Partial<Merchant>): Merchant => {
  const { address } = wallet(`merchant ${name}`);
  return {
    ...merchantAddress(LOCAL_DEPLOYMENT, address),
    wallet: address,
    name,
    status: "Active",
    attestor: ATTESTOR.address,
    previousAttestor: null,
    attestorSince: CREATED_AT - 100_000n,
    registeredAt: CREATED_AT - 100_000n,
    updatedAt: CREATED_AT - 100n,
    reputation: 0,
    slashes: 0,
    deliveries: 0n,
    partialDeliveries: 0n,
    volume: 0n,
    revokedSeq: 0n,
    ...other,
  };
};

/** An Active merchant that has delivered. */
export const MERCHANT = registered("Skyline Forecast API", {
  reputation: 2,
  deliveries: 1n,
  partialDeliveries: 1n,
  volume: 1_900_000n,
});

/** Signs for that merchant. */
export const MERCHANT_WALLET = wallet(`merchant ${MERCHANT.name}`);

/** A Suspended merchant. Its name is not ASCII and must be escaped in HTML. */
export const SUSPENDED = registered("Höhenflug & Söhne <GmbH>", {
  status: "Suspended",
  previousAttestor: FORMER_ATTESTOR.address,
  attestorSince: CREATED_AT - 500n,
  reputation: 4_294_967_295,
  slashes: 1,
});

/** An Active merchant without escrows. */
export const IDLE = registered("Idle Data", {});

/** The merchant wallet of an escrow. It is not registered. */
export const UNREGISTERED = wallet("unregistered merchant").address;

/** Every merchant account on the ledger. */
export const MERCHANTS: ReadonlyArray<Merchant> = [MERCHANT, SUSPENDED, IDLE];
