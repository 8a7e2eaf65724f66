import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseKeyedAccounts } from "../../../../adapters/solana-rpc/accounts/account-json.ts";
import { AccountScan } from "../../../../adapters/solana-rpc/accounts/account-scan.ts";
import { decodeBase64Bytes } from "../../../../adapters/solana-rpc/transport/base64-bytes.ts";
import {
  isValueAtSlot,
  parseEnvelope,
} from "../../../../adapters/solana-rpc/transport/rpc-envelope.ts";
import { decodeBase64, encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { anyAddress, anyU64, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const ID = 7;

/** The result of a scan of this body, cut at these indexes. */
const scanned = (text: string | Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const scan = new AccountScan(ID);
  const accounts: Array<LedgerAccount> = [];
  const places = [...new Set(cuts.map((cut) => cut % (body.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, body.length]) {
    const fault = scan.push(body.slice(from, to));
    if (fault !== undefined) return { fault };
    accounts.push(...scan.take(3));
    from = to;
  }
  const end = scan.end();
  if (typeof end === "string") return { fault: end };
  if ("error" in end) return end;
  return { slot: end.slot, accounts: [...accounts, ...scan.take(Number.POSITIVE_INFINITY)] };
};

/** The result of the JSON parser on the same text. */
const parsed = (text: string) => {
  const envelope = parseEnvelope(text, ID);
  if (typeof envelope === "string") return { fault: envelope };
  if ("error" in envelope) return envelope;
  const { result } = envelope;
  const accounts = isValueAtSlot(result) ? parseKeyedAccounts(result.value) : undefined;
  if (!isValueAtSlot(result) || accounts === undefined) return { fault: "malformed" };
  return { slot: result.context.slot, accounts };
};

const account = fc.record({
  address: anyAddress,
  owner: anyAddress,
  lamports: anyU64,
  executable: fc.boolean(),
  data: fc.uint8Array({ maxLength: 400 }),
});

/** JSON text with its members in any order and some white space between them. */
const object = (
  members: Readonly<Record<string, fc.Arbitrary<string>>>,
  style: fc.Arbitrary<{ readonly shuffled: boolean; readonly space: string }>,
): fc.Arbitrary<string> =>
  fc
    .tuple(style, fc.infiniteStream(fc.nat()), fc.record(members))
    .map(([{ shuffled, space }, numbers, texts]) => {
      const entries = Object.entries(texts).map(
        ([key, text]) => `"${key}"${space}:${space}${text}`,
      );
      if (shuffled) {
        for (let i = entries.length - 1; i > 0; i--) {
          const [j] = [(numbers.next().value ?? 0) % (i + 1)];
          [entries[i], entries[j]] = [entries[j] ?? "", entries[i] ?? ""];
        }
      }
      return `{${space}${entries.join(`${space},${space}`)}${space}}`;
    });

const anyStyle = fc.record({
  shuffled: fc.boolean(),
  space: fc.constantFrom("", "", " ", "\n\t ", "\r\n"),
});
const plainStyle = fc.constant({ shuffled: false, space: "" });

/** A record as a node could send it, sometimes with unknown members, escapes or duplicates. */
const recordText = (from: LedgerAccount, style: typeof anyStyle): fc.Arbitrary<string> => {
  const { address, owner, lamports, executable, data } = from;
  const inner = {
    data: fc.constant(`["${encodeBase64(data)}","base64"]`),
    executable: fc.constant(String(executable)),
    lamports: fc.constant(lamports.toString()),
    owner: fc.constant(`"${owner}"`),
    rentEpoch: fc.constantFrom("0", "18446744073709551615", "361", "1e3"),
    space: fc.constant(String(data.length)),
  };
  const extra = fc.constantFrom(
    '"x"',
    "null",
    '{"pubkey":"no"}',
    '["]}{\\"[",{"a":[1,2]}]',
    '"\\u00e9\\\\\\""',
    '"ünïcode"',
    "-1.5e-3",
  );
  const account = fc.oneof(
    { weight: 4, arbitrary: object(inner, style) },
    { weight: 1, arbitrary: object({ ...inner, extra }, style) },
  );
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constant(`"${address}"`) },
    {
      weight: 1,
      arbitrary: fc.constant(
        `"\\u${address.charCodeAt(0).toString(16).padStart(4, "0")}${address.slice(1)}"`,
      ),
    },
  );
  return fc.oneof(
    { weight: 4, arbitrary: object({ account, pubkey: key }, style) },
    { weight: 1, arbitrary: object({ account, pubkey: key, extra }, style) },
  );
};

const answerText = (accounts: ReadonlyArray<LedgerAccount>, style: typeof anyStyle) =>
  fc.tuple(...accounts.map((one) => recordText(one, style))).chain((records) =>
    object(
      {
        jsonrpc: fc.constant('"2.0"'),
        result: object(
          {
            context: fc.constantFrom('{"apiVersion":"3.0.0","slot":99}', '{"slot": 99}'),
            value: fc.constantFrom(`[${records.join(",")}]`, `[ ${records.join(" ,\n")}\n]`),
          },
          style,
        ),
        id: fc.constant(String(ID)),
      },
      style,
    ),
  );

const anyAnswer = fc
  .array(account, { maxLength: 8 })
  .chain((accounts) =>
    fc.record({ accounts: fc.constant(accounts), text: answerText(accounts, anyStyle) }),
  );

const OWNERS = [
  "So11111111111111111111111111111111111111112",
  "SysvarC1ock11111111111111111111111111111111",
] as const;

const row = (data: string) =>
  `{"pubkey":"${OWNERS[1]}","account":{"lamports":1,"owner":"${OWNERS[0]}","executable":false,"data":["${data}","base64"],"rentEpoch":0,"space":3}}`;

const innerText = ({ lamports, owner, executable, data }: LedgerAccount): string =>
  `{"data":["${encodeBase64(data)}","base64"],"executable":${executable},"lamports":${lamports},"owner":"${owner}","rentEpoch":18446744073709551615,"space":${data.length}}`;
/** A record in one of the two member orders that nodes use. */
const alikeRow = {
  pubkeyLast: (one: LedgerAccount) => `{"account":${innerText(one)},"pubkey":"${one.address}"}`,
  pubkeyFirst: (one: LedgerAccount) => `{"pubkey":"${one.address}","account":${innerText(one)}}`,
};

describe("a scan of an answer as it arrives", () => {
  test("reads every account a node can send, wherever the network cuts the answer", () => {
    fc.assert(
      fc.property(anyAnswer, fc.array(fc.nat(), { maxLength: 12 }), ({ accounts, text }, cuts) => {
        const found = scanned(text, cuts);
        expect(found).toEqual({ slot: 99, accounts });
        // Rows keep an account's bytes: neither a chunk nor a reused buffer may stand behind them.
        for (const { data } of ("accounts" in found && found.accounts) || [])
          expect([data.constructor, data.buffer.byteLength]).toEqual([Uint8Array, data.length]);
        expect(parsed(text)).toEqual({ slot: 99, accounts });
      }),
      runs(300),
    );
  });

  test("byte by byte", () => {
    fc.assert(
      fc.property(anyAnswer, ({ accounts, text }) => {
        const every = Array.from({ length: new TextEncoder().encode(text).length }, (_, i) => i);
        expect(scanned(text, every)).toEqual({ slot: 99, accounts });
      }),
      runs(15),
    );
  });

  test("agrees with the JSON parser on every answer with one byte changed, removed or inserted", () => {
    const anyBroken = fc
      .array(account, { minLength: 1, maxLength: 2 })
      .chain((accounts) =>
        fc.tuple(
          answerText(
            accounts.map((one) => ({ ...one, data: one.data.slice(0, 12) })),
            plainStyle,
          ),
          fc.nat(),
          fc.constantFrom(
            '"',
            "\\",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "0",
            "1",
            "e",
            ".",
            " ",
            "x",
            "=",
          ),
          fc.constantFrom("replace", "insert", "remove", "truncate"),
        ),
      )
      .map(([text, place, character, how]) => {
        const at = place % text.length;
        const behind = how === "insert" ? text.slice(at) : text.slice(at + 1);
        return how === "truncate"
          ? text.slice(0, at)
          : text.slice(0, at) + (how === "remove" ? "" : character) + behind;
      });
    fc.assert(
      fc.property(anyBroken, fc.nat(), (text, cut) => {
        const one = scanned(text, [cut]);
        const other = parsed(text);
        if ("accounts" in one || "accounts" in other) expect(one).toEqual(other as typeof one);
        else expect("fault" in one).toBe("fault" in other);
      }),
      runs(1500),
    );
  });

  test("agrees with the JSON parser where records differ in one byte", () => {
    const anyAlike = fc
      .tuple(
        account,
        fc.array(fc.tuple(anyAddress, bytesOfLength(8), fc.nat({ max: 2 })), {
          minLength: 2,
          maxLength: 6,
        }),
        fc.nat({ max: 8 }),
        fc.constantFrom(alikeRow.pubkeyLast, alikeRow.pubkeyFirst),
      )
      .map(([like, rows, length, rowOf]) => {
        const records = rows.map(([address, data, kind]) =>
          rowOf({ ...like, address, lamports: BigInt(kind), data: data.slice(0, length) }),
        );
        return `{"jsonrpc":"2.0","result":{"context":{"slot":99},"value":[${records.join(",")}]},"id":${ID}}`;
      });
    const anyChange = fc.record({
      place: fc.nat(),
      removed: fc.nat({ max: 2 }),
      inserted: fc.oneof(
        fc.constant(""),
        fc.string({ unit: fc.constantFrom(...'"\\{}[],:01e. xA=é'.split("")), maxLength: 2 }),
        fc.constantFrom(',"extra":1', '"pubkey":"x",', "false", "true"),
      ),
    });
    fc.assert(
      fc.property(
        anyAlike,
        fc.array(anyChange, { maxLength: 2 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        (alike, changes, cuts) => {
          const text = changes.reduce((text, { place, removed, inserted }) => {
            const at = place % text.length;
            return text.slice(0, at) + inserted + text.slice(at + removed);
          }, alike);
          const one = scanned(text, cuts);
          const other = parsed(text);
          if (changes.length === 0) expect(one).toHaveProperty("accounts");
          if ("accounts" in one || "accounts" in other) expect(one).toEqual(other as typeof one);
          else expect("fault" in one).toBe("fault" in other);
        },
      ),
      runs(3000),
    );
  });

  test("never takes another string for the data or the address", () => {
    const texts = fc.constantFrom("AQID", "AAAA", "", OWNERS[0], OWNERS[1]);
    const anyRow = fc
      .record({
        pubkey: fc.constantFrom(...OWNERS),
        owner: fc.constantFrom(...OWNERS),
        data: fc.constantFrom("AQID", "AAAA", "AQI="),
        isEscaped: fc.boolean(),
        extras: fc.tuple(texts, texts, texts),
      })
      .map(({ pubkey, owner, data, isEscaped, extras: [one, other, third] }) => {
        const sent = isEscaped ? `\\u0041${data.slice(1)}` : data;
        return `{"one":"${one}","account":{"lamports":1,"owner":"${owner}","${other}":0,"executable":false,"data":["${sent}","base64"],"rentEpoch":0,"space":3},"pubkey":"${pubkey}","three":["${third}"]}`;
      });
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 2, maxLength: 4 }), (rows) => {
        const text = `{"jsonrpc":"2.0","result":{"context":{"slot":99},"value":[${rows.join(",")}]},"id":${ID}}`;
        expect(scanned(text)).toEqual(parsed(text) as ReturnType<typeof scanned>);
      }),
      runs(1000),
    );
    const escaped = (extra: string) => row("\\u0041QID").replace("{", `{"extra":"${extra}",`);
    const text = `{"jsonrpc":"2.0","result":{"context":{"slot":99},"value":[${escaped("AQID")},${escaped("AAAA")}]},"id":${ID}}`;
    expect(scanned(text)).toEqual(parsed(text) as ReturnType<typeof scanned>);
    expect(scanned(text)).toHaveProperty("accounts.1.data", Uint8Array.of(1, 2, 3));
  });

  test("refuses an answer to another request, an error, and a list that ends early", () => {
    const list = (value: string, id = ID) =>
      `{"jsonrpc":"2.0","result":{"context":{"slot":5},"value":${value}},"id":${id}}`;
    expect(scanned(list(`[${row("AQID")}]`))).toMatchObject({
      slot: 5,
      accounts: [{ lamports: 1n }],
    });
    expect(scanned(list(`[${row("AQID")}]`, 8))).toEqual({ fault: "wrong_id" });
    expect(scanned(list(`[${row("AQID")},]`))).toEqual({ fault: "malformed" });
    expect(scanned(list(`[${row("AQID")}${row("AQID")}]`))).toEqual({ fault: "malformed" });
    expect(scanned(list(`[${row("A")}]`))).toEqual({ fault: "malformed" });
    // The base64 text is as long as the data before it, but not as long as its `space` says.
    expect(scanned(list(`[${row("AQID")},${row("AQI=")}]`))).toEqual({ fault: "malformed" });
    expect(scanned(list(`[${row("AQID")},null]`))).toEqual({ fault: "malformed" });
    expect(scanned(list("null"))).toEqual({ fault: "malformed" });
    expect(scanned(list(`[${row("AQID")}]`).slice(0, -9))).toEqual({ fault: "not_json" });
    expect(scanned("")).toEqual({ fault: "not_json" });
    expect(scanned(`{"jsonrpc":"2.0","error":{"code":-32012,"message":"m"},"id":${ID}}`)).toEqual({
      error: { code: -32012, data: undefined },
    });
    // In JSON a repeated member replaces the first one, which must not hide anything.
    const twice = list(`[${row("AQID")}]`).replace('},"id"', ',"context":{"slot":6}},"id"');
    expect(scanned(twice)).toEqual({ fault: "malformed" });
    expect(scanned(Uint8Array.of(0x7b, 0xff, 0x7d))).toEqual({ fault: "not_json" });
  });

  test("holds no more than one chunk and one record", () => {
    const scan = new AccountScan(ID);
    const text = new TextEncoder();
    scan.push(text.encode('{"jsonrpc":"2.0","result":{"context":{"slot":5},"value":['));
    let most = 0;
    for (let n = 0; n < 2000; n++) {
      const row = `${n === 0 ? "" : ","}{"account":{"data":["${"AAAA".repeat(100)}","base64"],"executable":false,"lamports":${n},"owner":"So11111111111111111111111111111111111111112","rentEpoch":0,"space":300},"pubkey":"So11111111111111111111111111111111111111112"}`;
      scan.push(text.encode(row));
      expect(scan.take(10)).toHaveLength(1);
      most = Math.max(most, scan.heldBytes);
    }
    expect(most).toBeLessThan(1000);
  });
});

test("base64 is read from bytes as it is from text", () => {
  const text = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map(encodeBase64),
    fc.string({
      unit: fc.constantFrom("A", "/", "+", "z", "9", "=", "-", " ", "é"),
      maxLength: 12,
    }),
  );
  fc.assert(
    fc.property(text, fc.nat({ max: 5 }), (base64, offset) => {
      const bytes = Buffer.from(`${"x".repeat(offset)}${base64}yy`, "latin1");
      const end = offset + Buffer.from(base64, "latin1").length;
      expect(decodeBase64Bytes(bytes, offset, end)).toEqual(decodeBase64(base64) as Uint8Array);
    }),
    runs(1000),
  );
});
