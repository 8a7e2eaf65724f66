/** The bytes are not a transaction; the message completes "The transaction ...". */
export class Malformed extends Error {
  /** Whether the fault is a program id that an address table supplies. */
  readonly programFromTable: boolean;
  constructor(message: string, programFromTable = false) {
    super(message);
    this.programFromTable = programFromTable;
  }
}

/**
 * Reads a transaction's bytes forward. `what` names the part that is read, for the fault.
 * @throws Malformed where the bytes end too early or a length is not canonical.
 */
export const wireReader = (bytes: Uint8Array) => {
  let at = 0;
  const take = (length: number, what: string): Uint8Array => {
    if (at + length > bytes.length) throw new Malformed(`ends within its ${what}`);
    at += length;
    return bytes.subarray(at - length, at);
  };
  const u8 = (what: string): number => take(1, what)[0] ?? 0;
  /** A length in one to three bytes of seven bits, shortest form only (Agave `short_vec.rs`). */
  const length = (what: string): number => {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = u8(what);
      value |= (byte & 127) << shift;
      if (byte < 128) {
        if (shift > 0 && byte === 0) throw new Malformed(`has an overlong length at its ${what}`);
        if (value > 65_535) throw new Malformed(`has a length beyond 65535 at its ${what}`);
        return value;
      }
    }
    throw new Malformed(`has an overlong length at its ${what}`);
  };
  return {
    take,
    u8,
    /** Bytes that follow their length. */
    bytes: (what: string): Uint8Array => take(length(what), what),
    /** Items that follow their count. */
    list: <T>(what: string, item: () => T): ReadonlyArray<T> =>
      Array.from({ length: length(what) }, item),
    /** The bytes that have not been read. */
    rest: (): Uint8Array => bytes.subarray(at),
  };
};

/** See `wireReader`. */
export type WireReader = ReturnType<typeof wireReader>;
