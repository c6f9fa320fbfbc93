import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readdirSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import './scripts/site.ts'
import { defineConfig } from 'vitest/config'
import { conformance, type Heard } from './test-node/conformance.ts'
import { type Exchange, type Left, type Many, secrecy } from './test-node/secrecy.ts'

/** A signing key that lives as long as the tests run. */
const newKey = (kid: string) => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid,
})

/** Nothing that stands in any other text. */
const randomSecret = () => randomBytes(32).toString('base64url')

const SECRETS = {
  SIGNING_KEYS: JSON.stringify({ keys: [newKey('first'), newKey('second')] }),
  TRACKING_KEYS: JSON.stringify({
    keys: ['first', 'retired'].map((kid) => ({ kty: 'oct', kid, k: randomSecret() })),
  }),
  ADMIN_KEY: randomSecret(),
}
/** What `npm run fuzz` was told; in `npm test` nothing. */
const { FUZZ_RUNS, FUZZ_SEED } = process.env
const FUZZ = { runs: Number(FUZZ_RUNS ?? 0), seed: FUZZ_SEED ? Number(FUZZ_SEED) : null }

// Cloudflare Access, in the one part that is outside: a team's public keys.
const TEAM = 'https://team.cloudflareaccess.example'
const { d, p, q, dp, dq, qi, ...team } = newKey('team') as Record<string, string>
const TEAM_KEY = JSON.stringify({ ...team, d, p, q, dp, dq, qi })
const teamKeys = () => Response.json({ keys: [{ ...team, alg: 'RS256', use: 'sig' }] })

/** Holds each answer that a test receives against openapi.json. */
const judge = conformance('openapi.json')

/** Searches what each test printed and stored for what the suite sent and was answered. */
const watch = secrecy(
  {
    SIGNING_KEYS: SECRETS.SIGNING_KEYS,
    TRACKING_KEYS: SECRETS.TRACKING_KEYS,
    TEAM_KEY: `{"keys":[${TEAM_KEY}]}`,
  },
  SECRETS.ADMIN_KEY,
)

/** What is wrong with an answer, in words. */
function wrong(heard: Heard & Exchange): string | null {
  const said = watch.hear(heard)
  if (said) return `${heard.path} says back the ${said}`
  const flaw = judge.flaw(heard)
  return flaw && `openapi.json does not say so: ${flaw}`
}

/** Keeps what test/examples.test.ts was answered, for openapi.json to show. */
function record(takes: unknown) {
  writeFileSync('scripts/docs/examples.json', `${JSON.stringify(takes, null, 2)}\n`)
  return new Response(null, { status: 204 })
}

/** What the terminal was told, by workerd too, which prints what no test can keep. */
const terminal: string[] = []
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...said: unknown[]) => boolean
  stream.write = (...said: unknown[]) => {
    terminal.push(String(said[0]))
    return write(...said)
  }
}

/** Once tests ran: whether a secret was printed that they learned of. */
const silence = {
  onTestRunEnd() {
    const said = watch.printed(terminal.join(''))
    if (!said) return
    console.error(`The terminal has the ${said}`)
    process.exitCode = 1
  },
}

/** Once all tests ran: what is described, and no test was answered, is not known to be true. */
const described = {
  onTestRunEnd(modules: readonly unknown[]) {
    if (modules.length < readdirSync('test').filter((name) => name.endsWith('.test.ts')).length)
      return
    const unheard = judge.unheard()
    if (unheard.length === 0) return
    console.error(`openapi.json describes what no test was answered:\n  ${unheard.join('\n  ')}`)
    process.exitCode = 1
  },
}

// How test/model.test.ts sees a failure again, or looks further than CI does.
const { MODEL_SEED = '', MODEL_PATH = '', MODEL_RUNS = '', MODEL_TABLE = '' } = process.env
const MODEL = { MODEL_SEED, MODEL_PATH, MODEL_RUNS, MODEL_TABLE }

/** Bytes that are free in memory as a file system, where there is one. */
function freeInMemory(): number {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize
  } catch {
    return 0
  }
}

// Each test has databases and objects of its own, made and unlinked: on a disk that takes twice as long.
if (freeInMemory() > 2 ** 30) process.env.TMPDIR = '/dev/shm'

// The pool warns, in each file, of required secrets that are not here; `bindings` is what counts.
Object.assign(process.env, SECRETS)

export default defineConfig(({ mode }) => ({
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        outboundService: async (request: Request) => {
          if (request.url === `${TEAM}/cdn-cgi/access/certs`) return teamKeys()
          if (request.url === 'http://recorder.local/') return record(await request.json())
          if (request.url === 'http://secrecy.local/')
            return new Response(watch.leak((await request.json()) as Left))
          if (request.url === 'http://secrecy.local/overheard')
            return new Response(watch.overhear((await request.json()) as Many))
          if (request.url !== 'http://conformance.local/')
            return new Response(null, { status: 404 })
          return new Response(wrong((await request.json()) as Heard & Exchange))
        },
        d1Databases: ['DB', 'DB_2'],
        bindings: {
          BASE_URL: 'https://api.example',
          ACCESS_TEAM: TEAM,
          ACCESS_AUD: 'application-of-the-tests',
          TEAM_KEY,
          ...SECRETS,
          FUZZ,
          ...MODEL,
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    include: mode === 'pairs' ? ['test/sweep/pairs.ts'] : ['test/**/*.test.ts'],
    setupFiles: ['./test/setup.ts'],
    // A file keeps both a process of Node and one of workerd busy, by turns.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Only what hangs is ended: how long a test takes says nothing on a machine that is busy.
    testTimeout: mode === 'pairs' ? 3_600_000 : 60_000,
    hookTimeout: 60_000,
    reporters: ['default', described, silence],
    // `npm run coverage`. Counters within the source are all that works inside workerd.
    coverage: {
      provider: 'istanbul',
      include: ['src/{auth,ingest,db}/**', 'src/{errors,fields,retry}.ts'],
      thresholds: { 'src/{auth,ingest,db}/**': { branches: 100 } },
      reporter: [['text', { skipFull: true }]],
      reportsDirectory: 'node_modules/.coverage',
    },
    // One line a request is printed by the service itself; a test that fails says enough.
    onConsoleLog: (line) => line.startsWith('sweep: '),
  },
}))
