import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { globSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import type { TestModule } from 'vitest/node'
import type { Ended } from './scripts/test/node-reporter.ts'
import { conformance, type Exchange as Described } from './test-node/conformance.ts'
import { type Exchange, type Exchanges, secrecy, type TestOutput } from './test-node/secrecy.ts'

/** Generates a signing key, valid for this run of the tests. */
const newKey = (kid: string) => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid,
})

/** Returns a text that occurs nowhere else. */
const randomSecret = () => randomBytes(32).toString('base64url')

const SECRETS = {
  SIGNING_KEYS: JSON.stringify({ keys: [newKey('first'), newKey('second')] }),
  TRACKING_KEYS: JSON.stringify({
    keys: ['first', 'retired'].map((kid) => ({ kty: 'oct', kid, k: randomSecret() })),
  }),
  ADMIN_KEY: randomSecret(),
}
// The seed is fixed, so that every run of `npm test` generates the same input. `npm run worlds` sets another
// seed and more runs; a failure prints the variables that replay it.
const {
  TEST_SEED = '3',
  // The routes and faults that are drawn from many differ from day to day, so that each has its turn.
  TEST_DAY = String(Math.floor(Date.now() / 86_400_000)),
  FUZZ_RUNS = '0',
  MODEL_RUNS = '0',
  MODEL_PATH = '',
  MODEL_TABLE = '',
} = process.env
const GENERATED = {
  SEED: Number(TEST_SEED),
  DAY: Number(TEST_DAY),
  FUZZ_RUNS: Number(FUZZ_RUNS),
  MODEL_RUNS: Number(MODEL_RUNS),
  MODEL_PATH,
  MODEL_TABLE,
}

/** The tests that run inside the Workers runtime. */
const TEST_FILES = 'test/**/*.test.ts'

// Cloudflare Access publishes the public keys of a team. The tests serve these themselves.
const TEAM = 'https://team.cloudflareaccess.example'
const { d, p, q, dp, dq, qi, ...team } = newKey('team') as Record<string, string>
const TEAM_KEY = JSON.stringify({ ...team, d, p, q, dp, dq, qi })
const teamKeys = () => Response.json({ keys: [{ ...team, alg: 'RS256', use: 'sig' }] })

// Vitest would load the modules of the service as its own, which need the runtime.
execFileSync(process.execPath, ['scripts/site.ts'], { stdio: 'inherit' })

/** Compares each response that a test receives with openapi.json. */
const description = conformance('openapi.json')

/** Searches what each test logged and stored for the secrets and personal values that it used. */
const watch = secrecy(
  {
    SIGNING_KEYS: SECRETS.SIGNING_KEYS,
    TRACKING_KEYS: SECRETS.TRACKING_KEYS,
    TEAM_KEY: `{"keys":[${TEAM_KEY}]}`,
  },
  SECRETS.ADMIN_KEY,
)

/** Returns what is wrong with a response, or null. */
function findFault(exchange: Described & Exchange): string | null {
  const secret = watch.learnExchange(exchange)
  if (secret) return `the response of ${exchange.path} contains the ${secret}`
  const flaw = description.flaw(exchange)
  return flaw && `openapi.json does not describe this response: ${flaw}`
}

/** A file of http://rates.local/. Each test stores its own file, and reads how often it was fetched. */
interface RateFile {
  /** A body is text, or bytes in base64. */
  answers: { status: number; text?: string; base64?: string }[]
  fetched: number
}
const rateFiles = new Map<string, RateFile>()

/** Stores the answers of a file, or gives the next of them; the last one stands for all later requests. */
async function serveRates(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'PUT') {
    const answers = (await request.json()) as RateFile['answers']
    rateFiles.set(pathname, { answers, fetched: 0 })
    return new Response(null, { status: 204 })
  }
  const file = rateFiles.get(pathname)
  if (!file) return new Response(null, { status: 404 })
  if (request.method === 'HEAD') {
    return new Response(null, { headers: { 'X-Fetched': String(file.fetched) } })
  }
  const answer = file.answers[Math.min(file.fetched++, file.answers.length - 1)]!
  const { status, text, base64 } = answer
  return new Response(base64 ? Buffer.from(base64, 'base64') : text, { status })
}

interface Responses {
  world: string
  responses: (Described & Omit<Exchange, 'world'>)[]
}

/** Returns what is wrong with the first of these responses that has a fault, or null. */
const findFaults = ({ world, responses }: Responses): string | null =>
  responses.map((one) => findFault({ ...one, world })).find((fault) => fault !== null) ?? null

const describeLeak = (leak: string | null) =>
  leak && `A secret or a personal value is where it must not be: ${leak}`

/** Returns what is wrong with a test and with its requests that were not reported before, or null. */
function checkTest(report: Responses & Exchanges & TestOutput): string | null {
  const fault = findFaults(report)
  const leaks = [watch.learnMany(report), watch.leak(report)]
  return fault ?? describeLeak(leaks.find((leak) => leak !== null) ?? null)
}

/** Answers the reports of test/secrecy.ts with a fault, or with an empty text. */
async function answerReport(request: Request): Promise<Response> {
  const report: unknown = await request.json()
  switch (new URL(request.url).pathname) {
    case '/responses':
      return new Response(findFaults(report as Responses))
    case '/exchanges':
      return new Response(describeLeak(watch.learnMany(report as Exchanges)))
    default:
      return new Response(checkTest(report as Responses & Exchanges & TestOutput))
  }
}

/** Writes what test/sweep/examples.ts has recorded, which openapi.json shows as examples. */
async function record(request: Request) {
  const found = await request.json()
  writeFileSync('test/recorded/examples.json', `${JSON.stringify(found, null, 2)}\n`)
  return new Response(null, { status: 204 })
}

/** Returns the text of each source. A module for each, as of `import.meta.glob`, takes 5 s of CPU time. */
const readSources = () =>
  Object.fromEntries(
    globSync(['src/**/*.{ts,tsx}', '{scripts,chaos,bench}/**/*.ts'], { exclude: ['**/*.d.ts'] })
      .sort()
      .map((path) => [path, readFileSync(path, 'utf8')]),
  )

/** Everything printed to the terminal. workerd prints to it directly, past the console of a test. */
const terminal: string[] = []
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = (...args: unknown[]) => {
    terminal.push(String(args[0]))
    return write(...args)
  }
}

/** Fails the run if a secret was printed. */
const secretReporter = {
  onTestRunEnd() {
    const secret = watch.printed(terminal.join(''))
    if (!secret) return
    console.error(`The terminal shows the ${secret}`)
    process.exitCode = 1
  },
}

/** Prints the seeds, and writes the end of each test to the file that `npm test` reads. */
const countReporter = {
  onTestRunStart() {
    console.log(`Generated input: TEST_SEED=${TEST_SEED} TEST_DAY=${TEST_DAY}`)
  },
  onTestRunEnd(modules: readonly TestModule[]) {
    const { TEST_REPORT } = process.env
    if (!TEST_REPORT) return
    const ended = modules.flatMap((module) =>
      [...module.children.allTests()].map((test): Ended => {
        const { state } = test.result()
        const named = `${relative('', module.moduleId)}: ${test.fullName}`
        return { state: state === 'pending' ? 'skipped' : state, test: named }
      }),
    )
    writeFileSync(TEST_REPORT, ended.map((one) => `${JSON.stringify(one)}\n`).join(''))
  },
}

/** Returns the free bytes of the file system in memory; 0 if there is none. */
function freeInMemory(): number {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize
  } catch {
    return 0
  }
}

// Every test creates and deletes databases and objects, which takes twice as long on a disk.
if (freeInMemory() > 2 ** 30) process.env.TMPDIR = '/dev/shm'

// The pool warns in each file of required secrets that are not in the environment, although
// `bindings` has them.
Object.assign(process.env, SECRETS)

export default defineConfig(({ mode }) => ({
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        outboundService: async (request: Request) => {
          if (request.url === `${TEAM}/cdn-cgi/access/certs`) return teamKeys()
          if (request.url.startsWith('http://rates.local/')) return serveRates(request)
          if (request.url === 'http://sources.local/') return Response.json(readSources())
          if (request.url.startsWith('http://recorder.local/')) return record(request)
          return request.url.startsWith('http://report.local/')
            ? answerReport(request)
            : new Response(null, { status: 404 })
        },
        d1Databases: ['DB', 'DB_2'],
        bindings: {
          BASE_URL: 'https://api.example',
          ACCESS_TEAM: TEAM,
          ACCESS_AUD: 'application-of-the-tests',
          TEAM_KEY,
          ...SECRETS,
          ...GENERATED,
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    include: mode === 'test' ? [TEST_FILES] : [`test/sweep/${mode}.ts`],
    setupFiles: ['./test/setup.ts'],
    // Files that run one after the other share a workerd process: to start one takes 2 s of CPU time.
    isolate: false,
    // On two cores the tests on Node have the other one.
    maxWorkers: Math.max(1, availableParallelism() - 1),
    // The limit ends only tests that hang: on a busy machine any test may take long.
    testTimeout: mode === 'pairs' ? 3_600_000 : 300_000,
    hookTimeout: 60_000,
    reporters: ['default', countReporter, secretReporter],
    // The service logs a line for each request. The output of the tests leaves them out.
    onConsoleLog: (line) => line.startsWith('sweep: '),
  },
}))
