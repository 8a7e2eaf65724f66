/** The progress of a sync, as `/v1/status` shows it. */
export type ShownProgress = {
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
};

const CELLS = 30;
const number = new Intl.NumberFormat("en");

/** Progress as one line: a bar when the total is known, otherwise a count. */
export const progressLine = ({ phase, done, total }: ShownProgress): string => {
  const counted = `${number.format(done)}${total === null ? "" : ` of ${number.format(total)}`} ${phase}`;
  if (total === null) return counted;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * CELLS);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `${"█".repeat(filled)}${"░".repeat(CELLS - filled)}${percent}  ${counted}`;
};
