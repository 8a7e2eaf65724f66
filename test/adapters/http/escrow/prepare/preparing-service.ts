import { type Address } from "../../../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../../../core/domain/encoding/base64.ts";
import { fieldWriter } from "../../../../../core/protocol/accounts/byte-fields.ts";
import { associatedTokenAddress } from "../../../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { accountOf, walletAccount } from "../../../../doubles/accounts.ts";
import {
  AGENT,
  ATTESTOR_KEY,
  escrow,
  merchant,
  MERCHANT,
  MINT,
  STRANGER,
} from "../../support/parties.ts";
import { checkedClient, makeService, type ServiceOptions } from "../../support/service.ts";

type Call = {
  readonly operation: string;
  readonly instructions: ReadonlyArray<{
    readonly program_address: string;
    readonly accounts: ReadonlyArray<{ readonly address: string | null }>;
  }>;
  readonly signers: ReadonlyArray<string>;
  readonly payouts: ReadonlyArray<unknown>;
  readonly warnings: ReadonlyArray<string>;
  readonly cost: {
    readonly fee: string;
    readonly deposits: ReadonlyArray<{ readonly lamports: string }>;
  };
  readonly transaction?: { readonly base64: string; readonly signers: ReadonlyArray<string> };
};

/**
 * A service that serves the prepare operations of one pending escrow, with the token accounts of both sides, and what
 * its tests call. Dispose of its runtime afterwards.
 */
export const preparingService = async (options: ServiceOptions = {}) => {
  const service = await makeService(options);
  const client = await checkedClient(service);
  const pending = escrow("prepare operations");
  const path = `/v1/escrows/${pending.address}`;

  const tokens = (
    owner: Address,
    change: {
      readonly holder?: Address;
      readonly state?: number;
      readonly at?: Address;
      readonly delegate?: Address;
    } = {},
  ) => {
    const {
      holder = owner,
      state = 1,
      at = associatedTokenAddress(owner, MINT),
      delegate,
    } = change;
    const head = fieldWriter(165).address(MINT).address(holder).u64(0n);
    const data = (delegate === undefined ? head.skip(36) : head.u32(1).address(delegate))
      .u8(state)
      .skip(56)
      .done();
    service.ledger.put(accountOf(at, TOKEN_PROGRAM, data));
    return at;
  };

  const post = async (to: string, body: object = {}) => {
    const response = await client.postJson(to, body);
    const answer = (await response.json()) as {
      readonly data: Call;
      readonly context: unknown;
      readonly code?: string;
      readonly rule?: string;
      readonly errors?: ReadonlyArray<{ readonly pointer: string }>;
    };
    return { status: response.status, ...answer };
  };

  /** An attestation of the escrow's attestor as the service itself prepares it. */
  const attested = async (change: object = {}) => {
    const { data } = await post(`${path}/attestation/prepare`, {
      proof_hash: "ab".repeat(32),
      ...change,
    });
    const prepared = data as unknown as {
      readonly message_base64: string;
      readonly proof_hash: string;
      readonly timestamp: string;
    };
    const message = decodeBase64(prepared.message_base64) ?? new Uint8Array();
    const { proof_hash, timestamp } = prepared;
    return {
      proof_hash,
      timestamp,
      attestation_signature: encodeBase64(ATTESTOR_KEY.sign(message)),
      ...change,
    };
  };

  service.seed({ escrows: [pending], merchants: [merchant()] });
  for (const wallet of [AGENT, MERCHANT, STRANGER])
    service.ledger.put(walletAccount(wallet, 1_000_000_000n));
  tokens(pending.address);
  tokens(AGENT);
  tokens(MERCHANT);
  return { service, client, pending, path, tokens, post, attested };
};
