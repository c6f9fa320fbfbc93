import { readFileSync } from 'node:fs'
import { Miniflare } from 'miniflare'
import { writeDemo } from '../scripts/dev/demo-accounts.ts'
import { applyMigrations, createSecrets, readSecrets, STATE } from '../scripts/dev/local.ts'
import { databasesOf } from './migrate.ts'

// Runs the service in the current folder like `npm run dev`, but without wrangler: it starts in a
// quarter of the time, and no proxy stands between a test and the Worker.

const [script = ''] = process.argv.slice(2)
const port = Number(process.env.PORT)
const settings = readFileSync('wrangler.toml', 'utf8')
const settingOf = (name: string) => new RegExp(`^${name} = "(.+)"$`, 'm').exec(settings)![1]!
const databases = databasesOf(settings).map(
  ({ binding, database_id: id }) => [binding, { type: 'd1', id }] as const,
)

const text = (value = '') => ({ type: 'text', value }) as const
const object = (exportName: string) =>
  ({ type: 'durable-object', exportName, worker: 'tributary' }) as const
const stored = { type: 'durable-object', storage: 'sqlite' } as const

await createSecrets()
await applyMigrations()
const secrets = readSecrets()
const miniflare = new Miniflare({
  host: '127.0.0.1',
  port,
  resourcePersistencePath: `${STATE}/v3`,
  logRequests: false,
  handleStructuredLogs: ({ message }) => console.log(message),
  workers: [
    {
      config: {
        name: 'tributary',
        type: 'worker',
        compatibilityDate: settingOf('compatibility_date'),
        manifest: {
          mainModule: 'index.js',
          modules: { 'index.js': { type: 'esm', contents: readFileSync(script, 'utf8') } },
        },
        env: {
          BASE_URL: text(settingOf('BASE_URL')),
          ACCESS_TEAM: text(),
          ACCESS_AUD: text(),
          SIGNING_KEYS: text(secrets.SIGNING_KEYS),
          TRACKING_KEYS: text(secrets.TRACKING_KEYS),
          ADMIN_KEY: text(secrets.ADMIN_KEY),
          ...Object.fromEntries(databases),
          TOKEN_GATE: object('TokenGate'),
          CLIENT_GATE: object('ClientGate'),
          ERASURE_JOURNAL: object('ErasureJournal'),
          CLICKS: { type: 'queue', name: 'tributary-clicks' },
          ASSETS: { type: 'assets' },
        },
        exports: { TokenGate: stored, ClientGate: stored, ErasureJournal: stored },
        triggers: [
          { type: 'queue', name: 'tributary-clicks', maxBatchSize: 100, maxBatchTimeout: 5 },
        ],
        assets: {
          directory: settingOf('directory'),
          hasUserWorker: true,
          runWorkerFirst: true,
          htmlHandling: 'none',
          notFoundHandling: 'none',
        },
      },
    },
  ],
})

const stop = async () => {
  await miniflare.dispose()
  process.exit()
}
process.on('SIGTERM', stop)
// A test that is killed sends no signal.
const parent = process.ppid
setInterval(() => process.ppid !== parent && stop(), 500).unref()

await miniflare.ready
await writeDemo(`http://127.0.0.1:${port}`, secrets.ADMIN_KEY ?? '')
console.log('Press Ctrl-C to stop.')
