import { deepStrictEqual, strictEqual } from 'node:assert'
import { CRON_SCHEDULES } from '../src/jobs/crons.ts'
import { parseCommand } from './command-line.ts'
import { configOf, ENVIRONMENTS } from './config.ts'

parseCommand(
  'node scripts/check-config.ts',
  'Exits with 1 if the environments of wrangler.toml differ in their bindings.',
)

/** What each environment has of its own: names, where it is, who reads its log, and the values of variables. */
const OWN =
  'name targetEnvironment bucket_name database_name database_id queue dead_letter_queue routes placement tail_consumers'.split(
    ' ',
  )

/** Returns what every environment must have in common; a missing binding is a 500 in production. */
const shapeOf = (env: string | undefined) =>
  JSON.stringify(
    configOf(env),
    (key, value) => (key === 'vars' ? Object.keys(value) : OWN.includes(key) ? undefined : value),
    1,
  )

const [first, ...others] = ENVIRONMENTS
deepStrictEqual(
  configOf(first).triggers.crons,
  Object.values(CRON_SCHEDULES),
  'the crons of src/jobs/crons.ts differ',
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
  strictEqual(shapeOf(env), shapeOf(first), `env.${env} of wrangler.toml differs`)
  if (!String(configOf(env).vars.BASE_URL).startsWith('https://')) {
    throw new Error(`BASE_URL of env.${env} is not https`)
  }
}
console.log('wrangler.toml: all environments have the same bindings.')
