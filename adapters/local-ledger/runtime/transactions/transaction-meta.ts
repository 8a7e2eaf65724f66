import type { TransactionMetadata } from "litesvm/dist/internal.js";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import type { TokenBalance } from "../accounts/token-balance.ts";
import type { TransactionErrorJson } from "./transaction-error.ts";

/** The instructions that one top-level instruction called, in order. */
export type InnerInstructions = {
  readonly index: number;
  readonly instructions: ReadonlyArray<{
    readonly programIdIndex: number;
    readonly accounts: ReadonlyArray<number>;
    /** base58 */
    readonly data: string;
    readonly stackHeight: number;
  }>;
};

/** The data of the last program that returned any. */
export type ReturnData = {
  readonly programId: Address;
  readonly data: readonly [base64: string, encoding: "base64"];
};

/** A transaction's `meta` in Agave's JSON form (`UiTransactionStatusMeta`). */
export type TransactionMeta = {
  readonly err: TransactionErrorJson | null;
  readonly status: { readonly Ok: null } | { readonly Err: TransactionErrorJson };
  readonly fee: bigint | number;
  readonly preBalances: ReadonlyArray<bigint | number>;
  readonly postBalances: ReadonlyArray<bigint | number>;
  readonly innerInstructions: ReadonlyArray<InnerInstructions>;
  readonly logMessages: ReadonlyArray<string>;
  readonly preTokenBalances: ReadonlyArray<TokenBalance>;
  readonly postTokenBalances: ReadonlyArray<TokenBalance>;
  readonly rewards: readonly [];
  readonly loadedAddresses: {
    readonly writable: ReadonlyArray<Address>;
    readonly readonly: ReadonlyArray<Address>;
  };
  readonly computeUnitsConsumed: bigint | number;
  readonly returnData?: ReturnData;
};

/** For each top-level instruction that called any: the instructions it called. */
export const innerInstructionsOf = (
  metadata: TransactionMetadata,
): ReadonlyArray<InnerInstructions> =>
  metadata.innerInstructions().flatMap((calls, index) =>
    calls.length === 0
      ? []
      : [
          {
            index,
            instructions: calls.map((call) => {
              const instruction = call.instruction();
              return {
                programIdIndex: instruction.programIdIndex(),
                accounts: [...instruction.accounts()],
                data: encodeBase58(instruction.data()),
                stackHeight: call.stackHeight(),
              };
            }),
          },
        ],
  );

/** The transaction's return data, undefined when it returned none. */
export const returnDataOf = (metadata: TransactionMetadata): ReturnData | undefined => {
  const returned = metadata.returnData();
  const data = returned.data();
  if (data.length === 0) return undefined;
  return {
    programId: addressFromBytes(returned.programId()),
    data: [Buffer.from(data).toString("base64"), "base64"],
  };
};
