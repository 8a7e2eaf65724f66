export * as custody from './custody/index.ts';
export * as attestor from './attestor/index.ts';
