import { encode } from "uqr";
import { escapeHtml } from "./escape.ts";

/** Light modules around the code, as many as ISO/IEC 18004 asks for. */
const QUIET_ZONE = 4;

/**
 * A QR code of a text as inline SVG: one path, a run of dark modules at a time, on white, so that it
 * prints and scans whatever the page's colours are. Empty for a text longer than a code can hold.
 */
export const qrCodeSvg = (text: string, label: string): string => {
  if (new TextEncoder().encode(text).length > 1024) return "";
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const runs = data.flatMap((row, y) => {
    const out: Array<string> = [];
    for (let x = 0; x < size; x++) {
      const start = x;
      while (row[x] === true) x++;
      if (x > start) out.push(`M${start} ${y}h${x - start}v1h-${x - start}z`);
    }
    return out;
  });
  return `<svg class="qr" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${runs.join("")}"/></svg>`;
};
