// The present Worker with the objects of the last release: `vitest --mode last-release` runs tests on it.

export * from '../../src/index.ts'
export { default } from '../../src/index.ts'
export { BackgroundJob, ClientGate, ErasureJournal, TokenGate } from './objects.js'
