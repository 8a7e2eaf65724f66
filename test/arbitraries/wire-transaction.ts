import fc from "fast-check";

/** The parts of a wire transaction. They need not agree with each other. */
export type TransactionParts = {
  readonly version: "legacy" | 0;
  readonly signatures: ReadonlyArray<Uint8Array>;
  /** Signers, read-only signers, read-only others. */
  readonly header: readonly [number, number, number];
  readonly accounts: ReadonlyArray<Uint8Array>;
  readonly blockhash: Uint8Array;
  readonly instructions: ReadonlyArray<{
    readonly program: number;
    readonly accounts: ReadonlyArray<number>;
    readonly data: Uint8Array;
  }>;
  readonly tables: ReadonlyArray<{
    readonly address: Uint8Array;
    readonly writable: ReadonlyArray<number>;
    readonly readonly: ReadonlyArray<number>;
  }>;
};

/** A length in seven-bit groups, least significant first, in as few groups as possible (Agave `short_vec.rs`). */
export const shortVec = (length: number): ReadonlyArray<number> =>
  length < 128 ? [length] : [(length & 127) | 128, ...shortVec(length >> 7)];

const list = <T>(
  items: ReadonlyArray<T>,
  bytesOf: (item: T) => Iterable<number>,
): ReadonlyArray<number> => [...shortVec(items.length), ...items.flatMap((i) => [...bytesOf(i)])];

/** The message of a transaction: what is signed. */
export const encodeMessage = (parts: TransactionParts): Uint8Array => {
  const { version, header, accounts, blockhash, instructions, tables } = parts;
  const calls = list(instructions, ({ program, accounts, data }) => [
    program,
    ...list(accounts, (place) => [place]),
    ...shortVec(data.length),
    ...data,
  ]);
  const lookups = list(tables, ({ address, writable, readonly }) => [
    ...address,
    ...list(writable, (place) => [place]),
    ...list(readonly, (place) => [place]),
  ]);
  return Uint8Array.from([
    ...(version === 0 ? [128] : []),
    ...header,
    ...list(accounts, (account) => account),
    ...blockhash,
    ...calls,
    ...(version === 0 ? lookups : []),
  ]);
};

/** The bytes of a transaction. */
export const encodeTransaction = (parts: TransactionParts): Uint8Array =>
  Uint8Array.from([...list(parts.signatures, (each) => each), ...encodeMessage(parts)]);

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const places = (count: number) => fc.array(fc.nat({ max: count - 1 }), { maxLength: 6 });

const lookup = fc
  .record({
    address: bytes32,
    writable: fc.array(fc.nat({ max: 255 }), { maxLength: 3 }),
    readonly: fc.array(fc.nat({ max: 255 }), { maxLength: 3 }),
  })
  .filter(({ writable, readonly }) => writable.length + readonly.length > 0);

/** Any unsigned transaction within every rule on lengths and indexes, so that a ledger would decode it. */
export const anyTransaction: fc.Arbitrary<TransactionParts> = fc
  .record({
    version: fc.constantFrom("legacy" as const, 0 as const),
    signers: fc.integer({ min: 1, max: 3 }),
    others: fc.integer({ min: 1, max: 6 }),
    tables: fc.array(lookup, { maxLength: 2 }),
  })
  .chain(({ version, signers, others, tables }) => {
    const used = version === 0 ? tables : [];
    const inTables = used.reduce((sum, t) => sum + t.writable.length + t.readonly.length, 0);
    const instruction = fc.record({
      program: fc.integer({ min: 1, max: signers + others - 1 }),
      accounts: places(signers + others + inTables),
      data: fc.oneof(
        fc.uint8Array({ maxLength: 20 }),
        fc.uint8Array({ minLength: 120, maxLength: 140 }),
      ),
    });
    return fc.record({
      version: fc.constant(version),
      signatures: fc.array(fc.uint8Array({ minLength: 64, maxLength: 64 }), {
        minLength: signers,
        maxLength: signers,
      }),
      header: fc.tuple(fc.constant(signers), fc.nat({ max: signers - 1 }), fc.nat({ max: others })),
      accounts: fc.uniqueArray(bytes32, {
        minLength: signers + others,
        maxLength: signers + others,
        selector: String,
      }),
      blockhash: bytes32,
      instructions: fc.array(instruction, { maxLength: 3 }),
      tables: fc.constant(used),
    });
  });
