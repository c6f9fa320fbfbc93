import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import './scripts/site.ts'
import { defineConfig } from 'vitest/config'
import { conformance, type Heard } from './test-node/conformance.ts'

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
// Cloudflare Access, in the one part that is outside: a team's public keys.
const TEAM = 'https://team.cloudflareaccess.example'
const { d, p, q, dp, dq, qi, ...team } = newKey('team') as Record<string, string>
const teamKeys = () => Response.json({ keys: [{ ...team, alg: 'RS256', use: 'sig' }] })

/** Holds each answer that a test receives against openapi.json. */
const judge = conformance('openapi.json')

/** Keeps what test/examples.test.ts was answered, for openapi.json to show. */
function record(takes: unknown) {
  writeFileSync('scripts/docs/examples.json', `${JSON.stringify(takes, null, 2)}\n`)
  return new Response(null, { status: 204 })
}

/** Once all tests ran: what is described, and no test was answered, is not known to be true. */
const coverage = {
  onTestRunEnd(modules: readonly unknown[]) {
    if (modules.length < readdirSync('test').filter((name) => name.endsWith('.test.ts')).length)
      return
    const unheard = judge.unheard()
    if (unheard.length === 0) return
    console.error(`openapi.json describes what no test was answered:\n  ${unheard.join('\n  ')}`)
    process.exitCode = 1
  },
}

// The pool warns, in each file, of required secrets that are not here; `bindings` is what counts.
Object.assign(process.env, SECRETS)

export default defineConfig({
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        outboundService: async (request: Request) => {
          if (request.url === `${TEAM}/cdn-cgi/access/certs`) return teamKeys()
          if (request.url === 'http://recorder.local/') return record(await request.json())
          if (request.url !== 'http://conformance.local/')
            return new Response(null, { status: 404 })
          return new Response(judge.flaw((await request.json()) as Heard))
        },
        d1Databases: ['DB', 'DB_2'],
        bindings: {
          BASE_URL: 'https://api.example',
          ACCESS_TEAM: TEAM,
          ACCESS_AUD: 'application-of-the-tests',
          TEAM_KEY: JSON.stringify({ ...team, d, p, q, dp, dq, qi }),
          ...SECRETS,
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['./test/setup.ts'],
    // Only what hangs is ended: how long a test takes says nothing on a machine that is busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', coverage],
    // One line a request is printed by the service itself; a test that fails says enough.
    onConsoleLog: () => false,
  },
})
