/** What a text says, or in plain words what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly fault: string };
