/** A request that offers a log's first checkpoint: that of leaf 0 alone. */
export const ADD_CHECKPOINT_EXAMPLE = `old 0

log.example/log/e4fcafed17647573/0
1
fY7xsRt0ud3PoqljHlBBSg6nAx1xobLXS61nlNjEyi0=

— log.example/log/e4fcafed17647573/0 NDvuU+zR7d9PD3gXLKT5a9bBx26CJGmLwMa6SZazRaNoLMGlvrWessRpt+e596mBewMV29UQXbXwVXwlftPJdiMNxgY=
`;

/** A cosignature of that checkpoint. */
export const COSIGNATURE_EXAMPLE = `— witness.example ej7y3gAAAABpVbkA2XRMnqEwSNC8D/criXmN6mb9yQuu5MxXVgtAoxW9Poa6L0YqBEQovm100o0rR89PLwADFnlHiDsMR+cULhI5BQ==
`;
