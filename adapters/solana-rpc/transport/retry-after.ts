/**
 * The milliseconds that a `Retry-After` header asks for (RFC 9110, section 10.2.3: delta-seconds or an HTTP date), null
 * for any other value. `nowMs` is wall-clock time; a date is relative to it.
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | null => {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts far more than HTTP dates, so the leading weekday is required.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
};
