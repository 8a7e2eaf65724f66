import jsQr from "jsqr";

/** Pixels to a module. */
const SCALE = 4;

/** The SVG of a page's QR code with this label, as it stands in the page. @throws Error without one. */
const svgOf = (html: string, label: string): string => {
  const svg = html
    .match(/<svg[^]*?<\/svg>/g)
    ?.find((each) => each.includes(`aria-label="${label}"`));
  if (svg === undefined) throw new Error(`the page has no ${label}`);
  return svg;
};

/** White pixels, and black ones where the SVG's runs of dark modules are. */
const pixelsOf = (svg: string): { readonly side: number; readonly data: Uint8ClampedArray } => {
  const [, size = "0", runs = ""] =
    /viewBox="0 0 (\d+) \1"[^]*?fill="#000" d="([^"]*)"/.exec(svg) ?? [];
  const side = Number(size) * SCALE;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x = "", y = "", width = ""] of runs.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++)
      for (let at = Number(x) * SCALE; at < (Number(x) + Number(width)) * SCALE; at++)
        data.fill(0, (row * side + at) * 4, (row * side + at) * 4 + 3);
  return { side, data };
};

/** What another library reads in a page's QR code with this label. @throws Error when it reads nothing. */
export const scanQrCode = (html: string, label: string): string => {
  const { side, data } = pixelsOf(svgOf(html, label));
  const read = jsQr(data, side, side);
  if (read === null) throw new Error(`${label} cannot be read`);
  return read.data;
};
