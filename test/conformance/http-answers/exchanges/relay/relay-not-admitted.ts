import { addressToBytes } from "../../../../../core/domain/address.ts";
import {
  type Instruction,
  readonly,
  writable,
} from "../../../../../core/domain/ledger/instruction.ts";
import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import { fieldWriter } from "../../../../../core/protocol/accounts/byte-fields.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import {
  ADDRESS_LOOKUP_TABLE_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
} from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { tableData } from "../../../../core/use-cases/relay/scripted-ledger.ts";
import type { Exchange } from "../../exchange.ts";
import type { World } from "../../world/fixed-world.ts";
import { AGENT, MERCHANT, RELAYER, STRANGER } from "../../world/parties.ts";
import {
  fromParts,
  registerInstruction,
  REGISTRATION,
  registration,
  relayed,
} from "../../world/transactions.ts";
import { relay } from "./relay.ts";
import { PRIVATE_KEY } from "../private-key.ts";
import { accountOf } from "../../../../doubles/accounts.ts";

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const bytesOf = (transaction: string): Buffer => Buffer.from(transaction, "base64");

const unreadable: ReadonlyArray<Exchange> = [
  relay("not base64", "***"),
  relay("incomplete base64", REGISTRATION.slice(0, -1)),
  relay("an empty text", ""),
  relay("a private key in the place of the transaction", PRIVATE_KEY),
  relay("not a transaction", base64(Buffer.from("hello"))),
  relay("a byte behind the end", base64(Buffer.concat([bytesOf(REGISTRATION), Buffer.alloc(1)]))),
  relay("version 1", base64(Buffer.alloc(200).fill(129, 0, 1))),
  relay("too large", base64(Buffer.alloc(1233))),
  relay("another encoding", REGISTRATION, { members: { encoding: "base58" } }),
  relay("confirm as text", REGISTRATION, { members: { confirm: "true" } }),
  relay("skip_preflight as a number", REGISTRATION, { members: { skip_preflight: 1 } }),
];

const call = (
  programAddress: Instruction["programAddress"],
  data: Uint8Array,
  accounts: Instruction["accounts"] = [],
): Instruction => ({ programAddress, accounts, data });
const noData = new Uint8Array();

/** AdvanceNonceAccount (Agave `system_instruction.rs`: 4), which makes a nonce the transaction's lifetime. */
const advanceNonce = call(SYSTEM_PROGRAM, Uint8Array.of(4, 0, 0, 0), [
  writable(STRANGER.address),
  readonly(STRANGER.address),
]);

const { maxComputeUnits, maxComputeUnitPrice } = RELAY_POLICY;
/** SetComputeUnitLimit and SetComputeUnitPrice (Agave `compute-budget-interface`). */
const unitLimit = call(
  COMPUTE_BUDGET_PROGRAM,
  fieldWriter(5)
    .u8(2)
    .u32(maxComputeUnits + 1)
    .done(),
);
const allowedUnits = call(COMPUTE_BUDGET_PROGRAM, fieldWriter(5).u8(2).u32(maxComputeUnits).done());
const unitPrice = call(
  COMPUTE_BUDGET_PROGRAM,
  fieldWriter(9)
    .u8(3)
    .u64(maxComputeUnitPrice + 1n)
    .done(),
);

/** Calls the program at index `program` of the account list. An address table at STRANGER adds indexes 2 and 3. */
const throughTable = (label: string, program: number): string =>
  fromParts(label, {
    header: [1, 0, 1],
    accounts: [addressToBytes(RELAYER.address), addressToBytes(LOCAL_DEPLOYMENT.attestorProgram)],
    instructions: [{ program, accounts: [3], data: Uint8Array.of(255) }],
    tables: [{ address: addressToBytes(STRANGER.address), writable: [0], readonly: [1] }],
  });
const withTable =
  (entries: number) =>
  ({ ledger }: World): void =>
    ledger.put(
      accountOf(
        STRANGER.address,
        ADDRESS_LOOKUP_TABLE_PROGRAM,
        tableData([AGENT.address, MERCHANT.wallet].slice(0, entries)),
      ),
    );

/** What the relay answers to transactions that it does not admit, and to one with a valid address table. */
export const notAdmittedExchanges: ReadonlyArray<Exchange> = [
  ...unreadable,
  relay("not signed", base64(bytesOf(REGISTRATION).fill(0, 1, 65))),
  relay("changed after it was signed", base64(bytesOf(registration("changed")).fill(7, 120, 121))),
  relay(
    "a program that is not allowed",
    relayed("stranger's program", [registerInstruction, call(STRANGER.address, noData)]),
  ),
  relay(
    "no call of the custody or attestor program",
    relayed("memo", [call(MEMO_PROGRAM, Uint8Array.of(104, 105))]),
  ),
  relay("a durable nonce", relayed("nonce", [advanceNonce, registerInstruction])),
  relay("too many compute units", relayed("units", [unitLimit, registerInstruction])),
  relay(
    "the compute unit limit set twice",
    relayed("units twice", [allowedUnits, allowedUnits, registerInstruction]),
  ),
  relay("too high a price for a compute unit", relayed("price", [unitPrice, registerInstruction])),
  relay("a program id from an address table", throughTable("program", 2)),
  relay("a missing address table", throughTable("no table", 1)),
  relay("an address table that is too short", throughTable("short", 1), { given: withTable(1) }),
  relay("accounts from an address table", throughTable("whole", 1), { given: withTable(2) }),
];
