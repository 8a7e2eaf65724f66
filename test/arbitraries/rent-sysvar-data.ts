/**
 * The data of a Rent sysvar (Agave `rent.rs`): lamports per byte and year, and the years until an account is exempt.
 * Clusters have 6960 and 1 since SIMD-0194, and had 3480 and 2 before.
 */
export const rentSysvarData = (lamportsPerByteYear: bigint, years: number): Uint8Array => {
  const data = new Uint8Array(17);
  const fields = new DataView(data.buffer);
  fields.setBigUint64(0, lamportsPerByteYear, true);
  fields.setFloat64(8, years, true);
  fields.setUint8(16, 50);
  return data;
};
