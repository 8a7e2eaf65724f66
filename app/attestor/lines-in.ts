/**
 * The lines of UTF-8 bytes, without their ends: `\n`, or `\r\n`. Nothing else ends a line. JSON's texts hold U+2028 and U+2029 as they are (RFC 8259, section 7), and a buyer's nonce may
 * have one, which must not divide the record that names it.
 */
export async function* linesIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of input) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  const last = rest + decoder.decode();
  if (last !== "") yield last.replace(/\r$/, "");
}
