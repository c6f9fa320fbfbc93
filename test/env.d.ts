/// <reference types="vite/types/importMeta.d.ts" />

declare namespace Cloudflare {
  interface Env {
    DB_2: D1Database
    TEAM_KEY: string
    /** The seed of all generated input. */
    SEED: number
    /** The seed of what is drawn from many cases: the days since 1970, or `TEST_DAY`. */
    DAY: number
    /** The number of runs of each fuzz test; 0: its own. */
    FUZZ_RUNS: number
    /** The number of sequences of each pair of accounts in the model test; 0: its own. */
    MODEL_RUNS: number
    /** The path of fast-check to the counterexample that the model test replays. */
    MODEL_PATH: string
    MODEL_TABLE: string
    MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}

declare module '*?raw' {
  const text: string
  export default text
}
