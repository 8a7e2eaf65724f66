/** Conditions on account data. All of them must hold. */
export type DataConditions = {
  /** Exact length in bytes. */
  readonly dataSize?: number | undefined;
  readonly bytesAt: ReadonlyArray<{ readonly offset: number; readonly bytes: Uint8Array }>;
};

/**
 * Whether account data meets all conditions. A condition whose offset is beyond the data's end fails, even for no
 * bytes.
 */
export const meetsConditions = (data: Uint8Array, conditions: DataConditions): boolean =>
  (conditions.dataSize === undefined || data.length === conditions.dataSize) &&
  conditions.bytesAt.every(
    ({ offset, bytes }) =>
      offset <= data.length &&
      Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0,
  );
