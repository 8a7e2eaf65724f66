/** More than any answer of a service, in bytes. */
export const MOST_ANSWER_BYTES = 16_777_216;

/**
 * The text of an answer's body. @throws Error as soon as more than `mostBytes` have come, counted behind a content coding: a megabyte of it can hold a gigabyte of
 * text.
 */
export const boundedText = async (
  response: Response,
  mostBytes: number = MOST_ANSWER_BYTES,
): Promise<string> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new Error(`the answer has more than ${mostBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
};
