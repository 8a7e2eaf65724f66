import { afterAll, describe, expect, test } from "bun:test";
import {
  LOCAL_AUTHORITY,
  LOCAL_FAUCET,
  LOCAL_USDC_MINT,
} from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, post, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { url, stop } = startLedger({ time });
afterAll(stop);

const KEY = LOCAL_FAUCET.address;
const HASH = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM";
const TRANSACTION = "solana_transaction::versioned::VersionedTransaction";
const MALFORMED = /^failed to deserialize solana_transaction::versioned::VersionedTransaction: it /;
const UNTAGGED =
  "Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.";
const U64_MAX = 2n ** 64n - 1n;

/** Messages as `jsonrpc-derive`, serde and Agave's `rpc.rs` word them; all are -32602. */
const invalid: ReadonlyArray<readonly [method: string, params: string, message: unknown]> = [
  // Too few and too many.
  ["getBalance", "[]", "`params` should have at least 1 argument(s)"],
  ["getBalance", `["${KEY}",{},1]`, "Invalid parameters: Expected from 1 to 2 parameters."],
  ["getTokenAccountsByOwner", `["${KEY}"]`, "`params` should have at least 2 argument(s)"],
  ["getSlot", "[{},{}]", "Invalid parameters: Expected from 0 to 1 parameters."],
  ["getHealth", "[1]", "Invalid parameters: No parameters were expected"],
  ["getBlockTime", "[]", "Invalid params: invalid length 0, expected a tuple of size 1."],
  ["getBlockTime", "[1,2]", "Invalid params: invalid length 2, expected fewer elements in array."],
  ["getBalance", `{"pubkey":"${KEY}"}`, "`params` should be an array"],
  // Of another type.
  ["getBalance", "[5]", "Invalid params: invalid type: integer `5`, expected a string."],
  ["getBalance", "[null]", "Invalid params: invalid type: null, expected a string."],
  ["getBalance", "[true]", "Invalid params: invalid type: boolean `true`, expected a string."],
  ["getBalance", "[[]]", "Invalid params: invalid type: sequence, expected a string."],
  ["getBalance", "[{}]", "Invalid params: invalid type: map, expected a string."],
  ["getBalance", `["${KEY}","x"]`, 'Invalid params: invalid type: string "x", expected a map.'],
  ["getBlockTime", '["1"]', 'Invalid params: invalid type: string "1", expected u64.'],
  ["getBlockTime", "[-1]", "Invalid params: invalid value: integer `-1`, expected u64."],
  ["getBlockTime", "[1.5]", "Invalid params: invalid type: floating point `1.5`, expected u64."],
  [
    "getMultipleAccounts",
    `["${KEY}"]`,
    `Invalid params: invalid type: string "${KEY}", expected a sequence.`,
  ],
  [
    "getProgramAccounts",
    `["${KEY}",{"withContext":1}]`,
    "Invalid params: invalid type: integer `1`, expected a boolean.",
  ],
  [
    "sendTransaction",
    '["AA==",{"encoding":"base64","skipPreflight":"yes"}]',
    'Invalid params: invalid type: string "yes", expected a boolean.',
  ],
  // Words that are not known.
  [
    "getTokenSupply",
    `["${LOCAL_USDC_MINT}",{"commitment":"recent"}]`,
    "Invalid params: unknown variant `recent`, expected one of `processed`, `confirmed`, `finalized`.",
  ],
  [
    "getAccountInfo",
    `["${KEY}",{"encoding":"hex"}]`,
    "Invalid params: unknown variant `hex`, expected one of `binary`, `base58`, `base64`, `jsonParsed`, `base64+zstd`.",
  ],
  [
    "getAccountInfo",
    `["${KEY}",{"dataSlice":{"offset":0}}]`,
    "Invalid params: missing field `length`.",
  ],
  [
    "sendTransaction",
    '["AA==",{"encoding":"jsonParsed"}]',
    "unsupported encoding: jsonParsed. Supported encodings: base58, base64",
  ],
  [
    "sendTransaction",
    '["AA==",{"encoding":"hex"}]',
    "Invalid params: unknown variant `hex`, expected one of `binary`, `base64`, `base58`, `json`, `jsonParsed`.",
  ],
  ["sendTransaction", '["AA==",{"encoding":"base64"}]', expect.stringMatching(MALFORMED)],
  ["simulateTransaction", '["!",{"encoding":"base64"}]', "invalid base64 encoding"],
  ["sendTransaction", '["0"]', "invalid base58 encoding"],
  [
    "sendTransaction",
    `["${"1".repeat(1684)}"]`,
    `base58 encoded ${TRANSACTION} too large: 1684 bytes (max: encoded/raw 1683/1232)`,
  ],
  [
    "sendTransaction",
    `["${"A".repeat(1644)}",{"encoding":"base64"}]`,
    `decoded ${TRANSACTION} too large: 1233 bytes (max: 1232 bytes)`,
  ],
  [
    "sendTransaction",
    `["${"A".repeat(1645)}",{"encoding":"base64"}]`,
    `base64 encoded ${TRANSACTION} too large: 1645 bytes (max: encoded/raw 1644/1232)`,
  ],
  ["getFeeForMessage", '["!"]', "invalid base64 encoding"],
  [
    "getFeeForMessage",
    '["AA=="]',
    "failed to deserialize solana_message::versions::VersionedMessage",
  ],
  ["getSlot", "[1]", "Invalid params: invalid type: integer `1`, expected a map."],
  // Configurations that may also be a bare text, for which Agave's error is not more specific.
  ...['"hex"', "5", '{"encoding":"hex"}', '{"maxSupportedTransactionVersion":256}'].map(
    (options) => ["getTransaction", `["${HASH}",${options}]`, UNTAGGED] as const,
  ),
  [
    "getSignaturesForAddress",
    `["${KEY}",{"commitment":"processed"}]`,
    "Method does not support commitment below `confirmed`",
  ],
  // Texts that are not addresses, hashes or signatures.
  ["getBalance", '["x0x"]', "Invalid param: Invalid"],
  ["getBalance", '["abc"]', "Invalid param: WrongSize"],
  ["getBalance", '[""]', "Invalid param: WrongSize"],
  ["getBalance", `["${"0".repeat(45)}"]`, "Invalid param: WrongSize"],
  ["getSignatureStatuses", '[["abc"]]', "Invalid param: WrongSize"],
  ["getSignatureStatuses", '[["0"]]', "Invalid param: Invalid"],
  ["getTransaction", `["${KEY}"]`, "Invalid param: WrongSize"],
  ["isBlockhashValid", '["abc"]', "WrongSize"],
  ["isBlockhashValid", '["l0l"]', "Invalid"],
  // Token methods, as Agave's `parsed_token_accounts.rs` and `rpc.rs` tell them apart.
  ["getTokenAccountBalance", `["${HASH}"]`, "Invalid param: could not find account"],
  ["getTokenAccountBalance", `["${KEY}"]`, "Invalid param: not a Token account"],
  ["getTokenAccountBalance", `["${LOCAL_USDC_MINT}"]`, "Invalid param: not a Token account"],
  ["getTokenSupply", `["${HASH}"]`, "Invalid param: could not find account"],
  ["getTokenSupply", `["${KEY}"]`, "Invalid param: not a Token mint"],
  [
    "getTokenAccountsByOwner",
    `["${KEY}",{"mint":"${HASH}"}]`,
    "Invalid param: could not find mint",
  ],
  [
    "getTokenAccountsByOwner",
    `["${KEY}",{"mint":"${KEY}"}]`,
    "Invalid param: Token mint could not be unpacked",
  ],
  [
    "getTokenAccountsByOwner",
    `["${KEY}",{"programId":"${KEY}"}]`,
    "Invalid param: unrecognized Token program id",
  ],
  [
    "getTokenAccountsByOwner",
    `["${KEY}",{"owner":"${KEY}"}]`,
    "Invalid params: unknown variant `owner`, expected `mint` or `programId`.",
  ],
  [
    "getTokenAccountsByOwner",
    `["${KEY}",{"mint":"${HASH}","programId":"${TOKEN_PROGRAM}"}]`,
    "Invalid params: invalid type: map, expected map with a single key.",
  ],
  // Too many members.
  [
    "getRecentPrioritizationFees",
    JSON.stringify([Array.from({ length: 129 }, () => KEY)]),
    "Too many inputs provided; max 128",
  ],
  ["getRecentPrioritizationFees", '[["abc"]]', "Invalid param: WrongSize"],
  [
    "getRecentPrioritizationFees",
    `["${KEY}"]`,
    `Invalid params: invalid type: string "${KEY}", expected a sequence.`,
  ],
  [
    "getSignatureStatuses",
    JSON.stringify([Array.from({ length: 257 }, () => HASH)]),
    "Too many inputs provided; max 256",
  ],
  // Lengths of account data.
  [
    "getMinimumBalanceForRentExemption",
    '["0"]',
    'Invalid params: invalid type: string "0", expected usize.',
  ],
];

const answer = (method: string, params: string) =>
  post(url, `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);

describe("parameters that are not what a method takes are refused in Agave's words", () => {
  test.each(invalid)("%s %s", async (method, params, message) => {
    expect(await answer(method, params)).toMatchObject({ error: { code: -32602, message } });
  });

  test("too many parameters are counted in the error's data", async () => {
    const { error } = await call(url, "getBalance", KEY, {}, 1);
    expect(error?.data).toBe('"Got: 3"');
  });
});

describe("parameters at their limits", () => {
  test("the rent of 10 MiB is returned, and one byte more is an invalid request", async () => {
    const longest = 10 * 1024 * 1024;
    // 128 bytes of overhead, 3480 lamports a byte and year, two years (Agave `rent`: Rent::minimum_balance).
    expect((await call(url, "getMinimumBalanceForRentExemption", longest)).result).toBe(
      (longest + 128) * 3480 * 2,
    );
    for (const length of [longest + 1, Number.MAX_SAFE_INTEGER])
      expect((await call(url, "getMinimumBalanceForRentExemption", length)).error).toEqual({
        code: -32600,
        message: "Invalid request",
      });
    expect(await answer("getMinimumBalanceForRentExemption", `[${U64_MAX}]`)).toMatchObject({
      error: { code: -32600 },
    });
  });

  test("prioritization fees accept 128 accounts, and none", async () => {
    const accounts = Array.from({ length: 128 }, () => LOCAL_AUTHORITY.address);
    for (const params of [[accounts], [[]], [null], []]) {
      const { result } = await call(url, "getRecentPrioritizationFees", ...params);
      expect(Array.isArray(result)).toBe(true);
    }
  });

  test("a blockhash of another ledger is reported as not valid, without an error", async () => {
    expect((await call(url, "isBlockhashValid", HASH)).result).toMatchObject({ value: false });
  });

  test("a slot of 2^64-1 is reported as not reached", async () => {
    expect(await answer("getBlockTime", `[${U64_MAX}]`)).toMatchObject({
      error: { code: -32004 },
    });
    expect(await answer("getBlockTime", `[${U64_MAX + 1n}]`)).toMatchObject({
      error: { code: -32602 },
    });
    expect(await answer("getSlot", `[{"minContextSlot":${U64_MAX}}]`)).toMatchObject({
      error: { code: -32016 },
    });
  });
});
