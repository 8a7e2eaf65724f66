import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  parseAccounts,
  parseKeyedAccounts,
} from "../../../../adapters/solana-rpc/accounts/account-json.ts";
import { parseEnvelope } from "../../../../adapters/solana-rpc/transport/rpc-envelope.ts";
import { address, addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";

const ADDRESS = address("So11111111111111111111111111111111111111112");
const OWNER = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");

const good = {
  lamports: 890_880,
  owner: OWNER,
  executable: false,
  data: ["AQID", "base64"],
  rentEpoch: 18_446_744_073_709_552_000,
  space: 3,
};
const parsed = {
  address: ADDRESS,
  owner: OWNER,
  lamports: 890_880n,
  executable: false,
  data: Uint8Array.of(1, 2, 3),
};

/** Each differs from `good` in one member. */
const wrong: ReadonlyArray<readonly [string, unknown]> = [
  ["not an object", "account"],
  ["an array", [good]],
  ["undefined", undefined],
  ["lamports negative", { ...good, lamports: -1 }],
  ["lamports with a fraction", { ...good, lamports: 1.5 }],
  ["lamports rounded by JSON", { ...good, lamports: 2 ** 53 }],
  ["lamports beyond u64", { ...good, lamports: "18446744073709551616" }],
  ["lamports in words", { ...good, lamports: "many" }],
  ["lamports null", { ...good, lamports: null }],
  ["owner not base58", { ...good, owner: "0".repeat(32) }],
  ["owner of 31 bytes", { ...good, owner: "1".repeat(31) }],
  ["owner missing", { ...good, owner: undefined }],
  ["executable as number", { ...good, executable: 1 }],
  ["data in another encoding", { ...good, data: ["AQID", "base58"] }],
  ["data as plain text", { ...good, data: "AQID" }],
  ["data with a third element", { ...good, data: ["AQID", "base64", 0] }],
  ["data without padding", { ...good, data: ["AQI", "base64"] }],
  ["data with stray bits", { ...good, data: ["AR==", "base64"], space: 1 }],
  ["data with white space", { ...good, data: ["AQ ID", "base64"] }],
  ["data URL-safe", { ...good, data: ["-_-_", "base64"] }],
  ["space of another length", { ...good, space: 4 }],
  ["rentEpoch as text", { ...good, rentEpoch: "0" }],
  ["rentEpoch missing", { ...good, rentEpoch: undefined }],
];

describe("accounts in JSON", () => {
  test("a valid account is read, with or without space, and with unknown members", () => {
    const { space: _, ...older } = good;
    const accounts = parseAccounts([ADDRESS, ADDRESS, ADDRESS], [good, null, { ...older, x: 1 }]);
    expect(accounts).toEqual([parsed, null, parsed]);
  });

  test.each(wrong)("%s makes the whole answer unusable", (_name, json) => {
    expect(parseAccounts([ADDRESS, ADDRESS], [good, json])).toBeUndefined();
    expect(
      parseKeyedAccounts([
        { pubkey: ADDRESS, account: good },
        { pubkey: ADDRESS, account: json },
      ]),
    ).toBeUndefined();
  });

  test("an answer has one entry per address, or is refused", () => {
    for (const json of [[], [good, good], null, {}, undefined]) {
      expect(parseAccounts([ADDRESS], json)).toBeUndefined();
    }
  });

  test("rows of a program have an address, and none is null", () => {
    expect(parseKeyedAccounts([{ pubkey: ADDRESS, account: good }])).toEqual([parsed]);
    expect(parseKeyedAccounts([])).toEqual([]);
    for (const row of [
      null,
      { account: good },
      { pubkey: "x", account: good },
      { pubkey: ADDRESS },
    ]) {
      expect(parseKeyedAccounts([row])).toBeUndefined();
    }
  });

  test("every account that a node can send is read exactly, with lamports up to 2^64-1", () => {
    const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(
        bytes32,
        bytes32,
        fc.bigInt(0n, 2n ** 64n - 1n),
        fc.uint8Array({ maxLength: 300 }),
        fc.boolean(),
        (key, owner, lamports, data, executable) => {
          const account = {
            address: addressFromBytes(key),
            owner: addressFromBytes(owner),
            lamports,
            executable,
            data,
          };
          const text = `{"jsonrpc":"2.0","id":7,"result":[{"pubkey":"${account.address}","account":{"lamports": ${lamports},"data":["${encodeBase64(data)}","base64"],"owner":"${account.owner}","executable":${executable},"rentEpoch":18446744073709551615,"space":${data.length}}}]}`;
          const envelope = parseEnvelope(text, 7);
          expect(envelope).toHaveProperty("result");
          expect(parseKeyedAccounts((envelope as { readonly result: unknown }).result)).toEqual([
            account,
          ]);
        },
      ),
    );
  });

  test("text that looks like lamports is left unchanged", () => {
    const line = 'Program log: "lamports":12345678901234567890';
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: [line] });
    expect(parseEnvelope(text, 1)).toEqual({ result: [line] });
  });
});
