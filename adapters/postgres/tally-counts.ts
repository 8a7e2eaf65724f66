import { COUNT_CREATED_DELIVERIES, COUNT_UPDATED_DELIVERIES } from "./tally-schema.ts";

/** Tallies without sums of what was released: over all mints at once they say nothing. */
export const COUNTS_ONLY = `
  ALTER TABLE escrow_tally DROP COLUMN released;

  CREATE OR REPLACE FUNCTION tally_created() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO escrow_tally AS tally
      SELECT merchant, state, count(*) FROM now_there GROUP BY merchant, state
      ON CONFLICT (merchant, state) DO UPDATE SET escrows = tally.escrows + excluded.escrows;
    ${COUNT_CREATED_DELIVERIES}
    RETURN NULL;
  END $$;

  CREATE OR REPLACE FUNCTION tally_updated() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO escrow_tally AS tally
      SELECT merchant, state, sum(sign) FROM (
        SELECT merchant, state, 1 AS sign FROM now_there
        UNION ALL SELECT merchant, state, -1 FROM there_before
      ) AS change GROUP BY merchant, state
      ON CONFLICT (merchant, state) DO UPDATE SET escrows = tally.escrows + excluded.escrows;
    ${COUNT_UPDATED_DELIVERIES}
    RETURN NULL;
  END $$;
`;
