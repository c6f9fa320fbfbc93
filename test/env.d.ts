/// <reference types="vite/types/importMeta.d.ts" />

declare namespace Cloudflare {
  interface Env {
    DB_2: D1Database
    TEAM_KEY: string
    FUZZ: { runs: number; seed: number | null }
    MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}

declare module '*?raw' {
  const text: string
  export default text
}
