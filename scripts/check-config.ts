import { deepStrictEqual } from 'node:assert'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { configOf, ENVIRONMENTS } from './config.ts'

// Every environment has the same bindings: one that was forgotten would show as a 500 in production.

const shapeOf = (env: string | undefined) => {
  const config = configOf(env)
  return {
    compatibility_date: config.compatibility_date,
    databases: config.d1_databases.map(({ binding, migrations_dir }) => ({
      binding,
      migrations_dir,
    })),
    objects: config.durable_objects.bindings.map(({ name, class_name }) => ({ name, class_name })),
    exports: config.exports,
    producers: config.queues.producers.map(({ binding }) => binding),
    consumers: config.queues.consumers.map(({ queue: _, ...how }) => how),
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
  'crons.ts has other crons',
)
for (const env of ENVIRONMENTS) {
  const { producers, consumers } = configOf(env).queues
  const queues = [producers, consumers].map((list) => list.map(({ queue }) => queue))
  deepStrictEqual(queues[0], queues[1], `env.${env} does not consume what it produces`)
}
for (const env of others) {
  deepStrictEqual(shapeOf(env), shapeOf(first), `env.${env} of wrangler.toml differs`)
  if (!String(configOf(env).vars.BASE_URL).startsWith('https://')) {
    throw new Error(`BASE_URL of env.${env} is not https`)
  }
}
console.log('wrangler.toml: every environment has the same bindings.')
