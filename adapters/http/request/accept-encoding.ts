const CODING =
  /^\s*([a-z0-9!#$&^_.+-]+|\*)\s*(?:;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/** Whether an Accept-Encoding header takes gzip (RFC 9110, section 12.5.3); false without one. */
export const acceptsGzip = (acceptEncoding: string | null): boolean => {
  let anything = false;
  for (const part of (acceptEncoding ?? "").split(",")) {
    const [, coding = "", quality = "1"] = CODING.exec(part) ?? [];
    const name = coding.toLowerCase();
    const isTaken = Number(quality) > 0;
    if (name === "gzip" || name === "x-gzip") return isTaken;
    if (name === "*") anything = isTaken;
  }
  return anything;
};
