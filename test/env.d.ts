/// <reference types="vite/types/importMeta.d.ts" />

declare namespace Cloudflare {
  interface Env {
    DB_2: D1Database
    TEAM_KEY: string
    FUZZ: { runs: number; seed: number | null }
    MODEL_SEED: string
    MODEL_PATH: string
    MODEL_RUNS: string
    MODEL_TABLE: string
    MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}

declare module '*?raw' {
  const text: string
  export default text
}
