/** The packets of settled escrows that were served, numbered in the order in which they were kept last. */
export const PACKET_TABLE = `
  CREATE SEQUENCE settled_packet_kept;
  CREATE TABLE settled_packet (
    escrow TEXT PRIMARY KEY,
    kept INT8 NOT NULL UNIQUE DEFAULT nextval('settled_packet_kept'),
    packet TEXT NOT NULL
  );
`;
