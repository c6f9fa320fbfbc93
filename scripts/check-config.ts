import { deepStrictEqual } from 'node:assert'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { parseCommand } from './command-line.ts'
import { configOf, ENVIRONMENTS } from './config.ts'

parseCommand(
  'node scripts/check-config.ts',
  'Exits with 1 if the environments of wrangler.toml differ in their bindings.',
)

/** Returns what every environment must have in common; a missing binding is a 500 in production. */
const shapeOf = (env: string | undefined) => {
  const config = configOf(env)
  return {
    compatibility_date: config.compatibility_date,
    compatibility_flags: config.compatibility_flags,
    databases: config.d1_databases.map(({ binding, migrations_dir }) => ({
      binding,
      migrations_dir,
    })),
    buckets: config.r2_buckets.map(({ binding, jurisdiction }) => ({ binding, jurisdiction })),
    objects: config.durable_objects.bindings.map(({ name, class_name }) => ({ name, class_name })),
    workflows: config.workflows.map(({ binding, class_name }) => ({ binding, class_name })),
    exports: config.exports,
    producers: config.queues.producers.map(({ binding }) => binding),
    consumers: config.queues.consumers.map(({ queue: _, dead_letter_queue: __, ...how }) => how),
    crons: config.triggers.crons,
    assets: config.assets,
    build: config.build,
    secrets: config.secrets,
    vars: Object.keys(config.vars),
    observability: config.observability,
    source_maps: config.upload_source_maps,
  }
}

const [first, ...others] = ENVIRONMENTS
deepStrictEqual(
  configOf(first).triggers.crons,
  Object.values(CRON_SCHEDULES),
  'the crons of src/admin/crons.ts differ',
)
for (const env of ENVIRONMENTS) {
  const { producers, consumers } = configOf(env).queues
  const filled = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ dead_letter_queue: dead }) => (dead === undefined ? [] : [dead])),
  ]
  const consumed = consumers.map(({ queue }) => queue)
  deepStrictEqual(filled, consumed, `env.${env} does not consume each queue that it fills`)
}
for (const env of others) {
  deepStrictEqual(shapeOf(env), shapeOf(first), `env.${env} of wrangler.toml differs`)
  if (!String(configOf(env).vars.BASE_URL).startsWith('https://')) {
    throw new Error(`BASE_URL of env.${env} is not https`)
  }
}
console.log('wrangler.toml: all environments have the same bindings.')
