/** SQL that adds `sign` times an escrow's row to the tallies; `row` is `NEW` or `OLD`. */
const tally = (row: "NEW" | "OLD", sign: 1 | -1): string => `
    INSERT INTO escrow_tally VALUES (${row}.merchant, ${row}.state, ${sign},
        ${sign} * ((${row}.released >> 32) & 4294967295), ${sign} * (${row}.released & 4294967295))
      ON CONFLICT (merchant, state) DO UPDATE SET escrows = escrows + excluded.escrows,
        released_high = released_high + excluded.released_high,
        released_low = released_low + excluded.released_low;
    INSERT INTO delivery_tally SELECT ${row}.merchant, ${row}.delivery_seconds, ${sign}
      WHERE ${row}.delivery_seconds IS NOT NULL
      ON CONFLICT (merchant, seconds) DO UPDATE SET deliveries = deliveries + excluded.deliveries;`;

/** SQL that leaves no tally of nothing behind: what is counted does not depend on how it came to be. */
const FORGET_NOTHING = `
    DELETE FROM escrow_tally WHERE merchant = OLD.merchant AND state = OLD.state AND escrows = 0;
    DELETE FROM delivery_tally
      WHERE merchant = OLD.merchant AND seconds = OLD.delivery_seconds AND deliveries = 0;`;

/**
 * What the registry counts of each merchant, kept by triggers, so that a page of it costs the same however
 * many escrows there are: escrows and what was released by state, as two sums of 32-bit halves, exact for
 * 2^31 escrows; and deliveries by their seconds, of which an escrow's greatest time to live allows 604,800.
 */
export const TALLY_TABLES = `
  CREATE TABLE escrow_tally (
    merchant BLOB NOT NULL,
    state INTEGER NOT NULL,
    escrows INTEGER NOT NULL,
    released_high INTEGER NOT NULL,
    released_low INTEGER NOT NULL,
    PRIMARY KEY (merchant, state)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE delivery_tally (
    merchant BLOB NOT NULL,
    seconds INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (merchant, seconds)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO escrow_tally
    SELECT merchant, state, count(*), sum((released >> 32) & 4294967295), sum(released & 4294967295)
    FROM escrow GROUP BY merchant, state;
  INSERT INTO delivery_tally
    SELECT merchant, delivery_seconds, count(*) FROM escrow
    WHERE delivery_seconds IS NOT NULL GROUP BY merchant, delivery_seconds;
  DROP INDEX escrow_deliveries;

  CREATE TRIGGER escrow_created AFTER INSERT ON escrow BEGIN ${tally("NEW", 1)}
  END;
  CREATE TRIGGER escrow_updated AFTER UPDATE ON escrow BEGIN ${tally("OLD", -1)} ${tally("NEW", 1)} ${FORGET_NOTHING}
  END;
`;
