import { defineConfig } from 'vitest/config'

// The tests of the commission engine and its books that need no runtime but Node, for `npx stryker run`: Stryker's
// runner for Vitest does not work inside workerd.

const NAMES = [
  'commission/clarifications',
  'commission/laws',
  'commission/published',
  'commission/worlds',
  'books/books-model',
]
const ENV = 'export const env = { SEED: 3, FUZZ_RUNS: 0, MODEL_RUNS: 0 }'

export default defineConfig({
  plugins: [
    {
      name: 'env',
      resolveId: (id) => (id === 'cloudflare:workers' ? '\0env' : null),
      load: (id) => (id === '\0env' ? ENV : null),
    },
  ],
  test: {
    include: NAMES.map((name) => `test/${name}.test.ts`),
    testTimeout: 300_000,
  },
})
