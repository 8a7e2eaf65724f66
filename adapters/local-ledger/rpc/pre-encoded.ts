/** A method's result that is JSON text already, in pieces. */
export class PreEncoded {
  readonly pieces: ReadonlyArray<string>;

  constructor(pieces: ReadonlyArray<string>) {
    this.pieces = pieces;
  }
}
