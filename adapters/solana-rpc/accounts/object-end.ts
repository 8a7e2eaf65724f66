const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Finds where a JSON object ends, in bytes that come piece by piece. It keeps none of them and judges none of them. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  /** Whether an escape in a string goes on in the next piece. */
  #escaped = false;

  /** Behind the object's end, from `at` on, where the piece or the object begins; -1 when it goes on in the next piece. */
  find(piece: Buffer, at: number): number {
    let i = at;
    for (;;) {
      if (this.#inString) {
        i = this.#stringEnd(piece, i);
        if (i < 0) return -1;
        this.#inString = false;
      }
      const byte = piece[i++];
      if (byte === undefined) return -1;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 0) return i;
      }
    }
  }

  /** Behind the quote that ends a string. An account's data are megabytes without an escape: the search is native. */
  #stringEnd(piece: Buffer, from: number): number {
    for (let searched = from; ;) {
      const quote = piece.indexOf(QUOTE, searched);
      const end = quote < 0 ? piece.length : quote;
      let run = end;
      while (run > from && piece[run - 1] === BACKSLASH) run--;
      const slashes = end - run + (run === from && this.#escaped ? 1 : 0);
      const isEscaped = slashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        return -1;
      }
      if (!isEscaped) {
        this.#escaped = false;
        return quote + 1;
      }
      searched = quote + 1;
    }
  }
}
