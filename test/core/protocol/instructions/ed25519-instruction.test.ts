import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import {
  attestationMessage,
  readAttestationMessage,
} from "../../../../core/protocol/instructions/attestation.ts";
import {
  type Ed25519Form,
  ed25519Instruction,
  readEd25519Instruction,
  type SignedMessage,
} from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  readVoucherMessage,
  voucherMessage,
} from "../../../../core/protocol/instructions/voucher.ts";
import {
  anyAddress,
  anyHash32,
  anyU64,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const anyU32 = fc.nat(2 ** 32 - 1);

const anyAttestation = fc.record({
  domain: anyHash32,
  terms: anyHash32,
  proofHash: anyHash32,
  total: anyU64,
  timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  deliveries: anyU32,
  isFinal: fc.boolean(),
});

const anyVoucher = fc.record({
  domain: anyHash32,
  terms: anyHash32,
  orders: anyHash32,
  total: anyU64,
  count: anyU32,
  isClosing: fc.boolean(),
});

const signed = (message: fc.Arbitrary<Uint8Array>): fc.Arbitrary<SignedMessage> =>
  fc.record({ publicKey: anyAddress, signature: bytesOfLength(64), message });

const attestation = signed(anyAttestation.map(attestationMessage));
const voucher = signed(anyVoucher.map(voucherMessage));

/** What a form holds, by the parts of the data that hold it. */
const partsIn = (data: Uint8Array, at: ReadonlyArray<readonly [number, number, number, number]>) =>
  at.map(([key, signature, message, length]): SignedMessage => ({
    publicKey: addressFromBytes(data.slice(key, key + 32)),
    signature: data.slice(signature, signature + 64),
    message: data.slice(message, message + length),
  }));

/** The forms by their offsets on the page: key, signature, message and its length. */
const SINGLE = [[16, 48, 112, 128]] as const;
const SESSION = [
  [30, 62, 222, 128],
  [126, 158, 350, 120],
] as const;

const messagesOf = (form: Ed25519Form): ReadonlyArray<SignedMessage> | undefined => {
  if (form.kind === "single") return [form.attestation];
  return form.kind === "session" ? [form.attestation, form.voucher] : undefined;
};

/**
 * Whether a change of one byte of the data leaves it in its form. Bytes of the header do not: they are the form. All others are
 * read as they are.
 */
const expectExact = (
  data: Uint8Array,
  header: number,
  at: Parameters<typeof partsIn>[1],
  change: number,
): void => {
  for (let offset = 0; offset < data.length; offset++) {
    const changed = data.with(offset, (data[offset] ?? 0) ^ change);
    const read = messagesOf(readEd25519Instruction(changed));
    if (offset < header) {
      if (read !== undefined) throw new Error(`took another header at ${offset}`);
    } else expect(read).toEqual(partsIn(changed, at));
  }
};

describe("the form of a single payment", () => {
  test("240 bytes are read back, and each changed byte is read as such or refused", () => {
    fc.assert(
      fc.property(attestation, fc.integer({ min: 1, max: 255 }), (one, change) => {
        const { data } = ed25519Instruction(one);
        expect(data).toHaveLength(240);
        expect(readEd25519Instruction(data)).toEqual({ kind: "single", attestation: one });
        expectExact(data, 16, SINGLE, change);
      }),
      runs(20),
    );
  });
});

describe("the form of a session", () => {
  test("470 bytes are read back, and each changed byte is read as such or refused", () => {
    fc.assert(
      fc.property(attestation, voucher, fc.integer({ min: 1, max: 255 }), (one, two, change) => {
        const { data } = ed25519Instruction(one, two);
        expect(data).toHaveLength(470);
        expect(readEd25519Instruction(data)).toEqual({
          kind: "session",
          attestation: one,
          voucher: two,
        });
        expectExact(data, 30, SESSION, change);
      }),
      runs(20),
    );
  });

  test("its header has the offsets of the page", () => {
    const blank = {
      publicKey: addressFromBytes(new Uint8Array(32)),
      signature: new Uint8Array(64),
    };
    const { data } = ed25519Instruction(
      { ...blank, message: new Uint8Array(128) },
      { ...blank, message: new Uint8Array(120) },
    );
    const view = new DataView(data.buffer);
    expect([data[0], data[1]]).toEqual([2, 0]);
    expect(Array.from({ length: 14 }, (_, i) => view.getUint16(2 + 2 * i, true))).toEqual([
      62, 0xffff, 30, 0xffff, 222, 128, 0xffff, 158, 0xffff, 126, 0xffff, 350, 120, 0xffff,
    ]);
  });
});

test("no other length, number of signatures or order of messages is one of the forms", () => {
  fc.assert(
    fc.property(attestation, voucher, fc.uint8Array({ maxLength: 600 }), (one, two, junk) => {
      const others = [
        ed25519Instruction(two),
        ed25519Instruction(two, one),
        ed25519Instruction(one, one),
        ed25519Instruction(one, two, two),
      ].map(({ data }) => data);
      const forms = [ed25519Instruction(one).data, ed25519Instruction(one, two).data];
      const resized = forms.flatMap((data) => [data.slice(0, -1), Uint8Array.of(...data, 0)]);
      for (const data of [...others, ...resized, junk])
        expect(messagesOf(readEd25519Instruction(data))).toBeUndefined();
    }),
    runs(100),
  );
});

test("a part in another instruction's data is told with that instruction", () => {
  const blank = { publicKey: addressFromBytes(new Uint8Array(32)), signature: new Uint8Array(64) };
  const { data } = ed25519Instruction(
    { ...blank, message: new Uint8Array(128) },
    { ...blank, message: new Uint8Array(120) },
  );
  const at = (offset: number) => {
    const moved = data.slice();
    new DataView(moved.buffer).setUint16(offset, 3, true);
    return readEd25519Instruction(moved);
  };
  const elsewhere = (part: string) => ({ kind: "elsewhere", part, instruction: 3 }) as const;
  expect(at(4)).toEqual(elsewhere("first signature"));
  expect(at(8)).toEqual(elsewhere("first key"));
  expect(at(14)).toEqual(elsewhere("first message"));
  expect(at(18)).toEqual(elsewhere("second signature"));
  expect(at(22)).toEqual(elsewhere("second key"));
  expect(at(28)).toEqual(elsewhere("second message"));
});

describe("messages", () => {
  test("an attestation is read back, and from no other tag, final or last bytes", () => {
    fc.assert(
      fc.property(anyAttestation, fc.integer({ min: 1, max: 255 }), (claim, change) => {
        const message = attestationMessage(claim);
        expect(readAttestationMessage(message)).toEqual(claim);
        for (let offset = 0; offset < message.length; offset++) {
          const changed = message.with(offset, (message[offset] ?? 0) ^ change);
          const read = readAttestationMessage(changed);
          const isFixed = offset < 8 || offset > 124 || (offset === 124 && change > 1);
          if (isFixed) expect(read).toBeUndefined();
          else expect(read && attestationMessage(read)).toEqual(changed);
        }
        expect(readAttestationMessage(message.slice(0, -1))).toBeUndefined();
      }),
      runs(50),
    );
  });

  test("a voucher is 120 bytes, is read back, and from no other tag, closing or last bytes", () => {
    fc.assert(
      fc.property(anyVoucher, fc.integer({ min: 1, max: 255 }), (claim, change) => {
        const message = voucherMessage(claim);
        expect(message).toHaveLength(120);
        expect(readVoucherMessage(message)).toEqual(claim);
        for (let offset = 0; offset < message.length; offset++) {
          const changed = message.with(offset, (message[offset] ?? 0) ^ change);
          const read = readVoucherMessage(changed);
          const isFixed = offset < 8 || offset > 116 || (offset === 116 && change > 1);
          if (isFixed) expect(read).toBeUndefined();
          else expect(read && voucherMessage(read)).toEqual(changed);
        }
        expect(readVoucherMessage(Uint8Array.of(...message, 0))).toBeUndefined();
      }),
      runs(50),
    );
  });
});
