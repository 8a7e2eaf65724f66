import { html, type Html } from "../shell/html.ts";
import { pill } from "../shell/parts.ts";

/** A merchant's standing as a pill. */
export const statusPill = (status: string): Html =>
  status === "Active" ? pill("good", "Active") : pill("bad", status);

/** The warning beside a name that others have too; false without such others. */
export const sameNameNotice = (others: number | null): Html | false =>
  others !== null &&
  others > 0 &&
  html`${pill("warn", others === 1 ? "1 other has this name" : `${others} others have this name`)}`;
