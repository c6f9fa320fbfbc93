import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Miniflare } from 'miniflare'
import { execute, MIGRATIONS } from '../chaos/workerd.ts'
import { writeDemo } from '../scripts/dev/demo-accounts.ts'
import {
  applyMigrations,
  createSecrets,
  readSecrets,
  recordOf,
  STATE,
} from '../scripts/dev/local.ts'
import { demoMembers } from '../scripts/dev/members.ts'
import { readConfig } from './wrangler-config.ts'

// Runs the service in the current folder like `npm run dev`, but without wrangler: it starts in a
// quarter of the time, and no proxy stands between a test and the Worker. Its settings are those of
// wrangler.toml.

const [script = ''] = process.argv.slice(2)
const port = Number(process.env.PORT)
const config = readConfig('.')
const { assets } = config

const text = (value = '') => ({ type: 'text', value }) as const
const object = (exportName: string) =>
  ({ type: 'durable-object', exportName, worker: 'tributary' }) as const
const entriesOf = <T, Binding>(
  list: readonly T[],
  entry: (one: T) => readonly [string, Binding],
): Record<string, Binding> => Object.fromEntries(list.map(entry))

await createSecrets()
const secrets = readSecrets()
const miniflare = new Miniflare({
  host: '127.0.0.1',
  port,
  // Workflows need an absolute path.
  resourcePersistencePath: resolve(STATE, 'v3'),
  logRequests: false,
  handleStructuredLogs: ({ message }: { message: string }) => console.log(message),
  workers: [
    {
      config: {
        name: 'tributary',
        type: 'worker',
        compatibilityDate: config.compatibility_date,
        compatibilityFlags: config.compatibility_flags,
        manifest: {
          mainModule: 'index.js',
          modules: { 'index.js': { type: 'esm', contents: readFileSync(script, 'utf8') } },
        },
        env: {
          ...entriesOf(Object.entries(config.vars), ([name, value]) => [name, text(String(value))]),
          ...entriesOf(config.secrets.required, (name) => [name, text(secrets[name])]),
          ...entriesOf(config.d1_databases, ({ binding, database_id: id }) => [
            binding,
            { type: 'd1', id } as const,
          ]),
          ...entriesOf(config.r2_buckets, ({ binding, bucket_name: name }) => [
            binding,
            { type: 'r2', name } as const,
          ]),
          ...entriesOf(config.durable_objects.bindings, ({ name, class_name }) => [
            name,
            object(class_name),
          ]),
          ...entriesOf(config.queues.producers, ({ binding, queue: name }) => [
            binding,
            { type: 'queue', name } as const,
          ]),
          ...entriesOf(config.workflows, ({ binding, name, class_name: exportName }) => [
            binding,
            { type: 'workflow', name, worker: 'tributary', exportName } as const,
          ]),
          [assets.binding]: { type: 'assets' },
        },
        exports: config.exports,
        triggers: [
          ...config.queues.consumers.map((one) => ({
            type: 'queue' as const,
            name: one.queue,
            maxBatchSize: one.max_batch_size,
            maxBatchTimeout: one.max_batch_timeout,
            maxRetries: one.max_retries,
            ...(one.dead_letter_queue && { deadLetterQueue: one.dead_letter_queue }),
          })),
          ...config.triggers.crons.map((schedule) => ({ type: 'scheduled' as const, schedule })),
        ],
        assets: {
          directory: assets.directory,
          hasUserWorker: true,
          runWorkerFirst: assets.run_worker_first,
          htmlHandling: assets.html_handling,
          notFoundHandling: assets.not_found_handling,
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
// Wrangler takes two seconds for a database.
await applyMigrations(async (binding, missing) => {
  const database = await miniflare.getD1Database(binding)
  const record = recordOf(missing)
    .replaceAll('\n', ' ')
    .split(/(?<=;) /)
  await execute({ database }, [...MIGRATIONS, ...record])
})
const { keys, sql } = demoMembers()
await execute({ database: await miniflare.getD1Database('DB') }, sql)
await writeDemo(`http://127.0.0.1:${port}`, secrets, keys)
console.log('Press Ctrl-C to stop.')
