/** SQL of the trigger on new escrows that counts their deliveries. */
export const COUNT_CREATED_DELIVERIES = `INSERT INTO delivery_tally AS tally
      SELECT merchant, delivery_seconds, count(*) FROM now_there
      WHERE delivery_seconds IS NOT NULL GROUP BY merchant, delivery_seconds
      ON CONFLICT (merchant, seconds) DO UPDATE SET deliveries = tally.deliveries + excluded.deliveries;`;

/** SQL of the trigger on changed escrows that counts their deliveries. */
export const COUNT_UPDATED_DELIVERIES = `INSERT INTO delivery_tally AS tally
      SELECT merchant, delivery_seconds, sum(sign) FROM (
        SELECT merchant, delivery_seconds, 1 AS sign FROM now_there
        UNION ALL SELECT merchant, delivery_seconds, -1 FROM there_before
      ) AS change WHERE delivery_seconds IS NOT NULL GROUP BY merchant, delivery_seconds
      ON CONFLICT (merchant, seconds) DO UPDATE SET deliveries = tally.deliveries + excluded.deliveries;`;

/**
 * What the registry counts of each merchant, kept by triggers, so that a page of it costs the same however
 * many escrows there are: escrows and what was released by state, and deliveries by their seconds, of which
 * an escrow's greatest time to live allows 604,800. Triggers run once a statement.
 */
export const TALLY_TABLES = `
  CREATE TABLE escrow_tally (
    merchant BYTEA NOT NULL,
    state INT2 NOT NULL,
    escrows INT8 NOT NULL,
    released NUMERIC NOT NULL,
    PRIMARY KEY (merchant, state)
  );
  CREATE TABLE delivery_tally (
    merchant BYTEA NOT NULL,
    seconds INT8 NOT NULL,
    deliveries INT8 NOT NULL,
    PRIMARY KEY (merchant, seconds)
  );
  INSERT INTO escrow_tally
    SELECT merchant, state, count(*), sum(released) FROM escrow GROUP BY merchant, state;
  INSERT INTO delivery_tally
    SELECT merchant, delivery_seconds, count(*) FROM escrow
    WHERE delivery_seconds IS NOT NULL GROUP BY merchant, delivery_seconds;
  DROP INDEX escrow_deliveries;

  CREATE FUNCTION tally_created() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO escrow_tally AS tally
      SELECT merchant, state, count(*), sum(released) FROM now_there GROUP BY merchant, state
      ON CONFLICT (merchant, state) DO UPDATE
      SET escrows = tally.escrows + excluded.escrows, released = tally.released + excluded.released;
    ${COUNT_CREATED_DELIVERIES}
    RETURN NULL;
  END $$;

  CREATE FUNCTION tally_updated() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO escrow_tally AS tally
      SELECT merchant, state, sum(sign), sum(sign * released) FROM (
        SELECT merchant, state, released, 1 AS sign FROM now_there
        UNION ALL SELECT merchant, state, released, -1 FROM there_before
      ) AS change GROUP BY merchant, state
      ON CONFLICT (merchant, state) DO UPDATE
      SET escrows = tally.escrows + excluded.escrows, released = tally.released + excluded.released;
    ${COUNT_UPDATED_DELIVERIES}
    RETURN NULL;
  END $$;

  CREATE TRIGGER escrow_created AFTER INSERT ON escrow
    REFERENCING NEW TABLE AS now_there FOR EACH STATEMENT EXECUTE FUNCTION tally_created();
  CREATE TRIGGER escrow_updated AFTER UPDATE ON escrow
    REFERENCING OLD TABLE AS there_before NEW TABLE AS now_there
    FOR EACH STATEMENT EXECUTE FUNCTION tally_updated();
`;
