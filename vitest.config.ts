import { generateKeyPairSync } from 'node:crypto'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

/** A signing key that lives as long as the tests run. */
const newKey = (kid: string) => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid,
})

const SECRETS = {
  SIGNING_KEYS: JSON.stringify({ keys: [newKey('first'), newKey('second')] }),
  TRACKING_KEYS: JSON.stringify({
    keys: ['first', 'retired'].map((k) => ({ kty: 'oct', kid: k, k: btoa(k).replace(/=/g, '') })),
  }),
  ADMIN_KEY: 'admin-key-of-the-tests',
}
// The pool warns, in each file, of required secrets that are not here; `bindings` is what counts.
Object.assign(process.env, SECRETS)

export default defineConfig({
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        d1Databases: ['DB', 'DB_2'],
        bindings: {
          BASE_URL: 'https://api.example',
          ...SECRETS,
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['./test/setup.ts'],
    // One line a request is printed by the service itself; a test that fails says enough.
    onConsoleLog: () => false,
  },
})
