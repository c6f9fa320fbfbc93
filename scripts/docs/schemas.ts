import { ORIGIN } from '../../src/platform/documents/origin.ts'
import { ENTITIES } from './entities.ts'
import { envelopes } from './envelopes.ts'
import { recorded } from './examples.ts'
import { derivedSchemas } from './openapi/derived.ts'
import { planSchemas, readTemplates } from './plans.ts'
import { type JsonSchema, types } from './types.ts'
import { eventSchema } from './webhook-events.ts'

const AT = '#/$defs/'

/** Returns the definitions that a schema refers to, directly or through others. */
function usedDefinitions(
  schema: JsonSchema,
  all: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const found = new Set<string>()
  const search = (text: string) => {
    for (const [, name = ''] of text.matchAll(/"#\/\$defs\/(\w+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      search(JSON.stringify(all[name]))
    }
  }
  search(JSON.stringify(schema))
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)))
}

/** A recorded example of each envelope. */
const EXAMPLES: Record<string, unknown> = {
  bulk: recorded('sendForexCustomers', '200')[0]?.request,
  result: recorded('sendForexCustomers', '200')[0]?.answer,
  list: recorded('listForexCustomers', '200')[0]?.answer,
  problem: recorded('sendForexTransactions', '422')[0]?.answer,
}

function schemaFile(file: string, schema: JsonSchema, all: Record<string, JsonSchema>): JsonSchema {
  const $defs = usedDefinitions(schema, all)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${ORIGIN}/schemas/v1/${file}.json`,
    ...schema,
    ...(Object.keys($defs).length > 0 && { $defs }),
  }
}

/** The file of the schema of plans. */
const PLAN_FILE = 'commission-plan'

/** The file of the schema of webhook events. */
const WEBHOOK_FILE = 'webhook-event'

/** Returns all schemas by file name: of entities, envelopes, plans and webhook events. */
export function schemas(): Record<string, JsonSchema> {
  const entityFiles = ENTITIES.map(({ file, schema, example }) => [
    file,
    schemaFile(file, { ...schema(AT), examples: [example] }, types()),
  ])
  const answers = derivedSchemas(AT)
  const envelopeFiles = Object.entries(envelopes(AT, answers)).map(([file, schema]) => [
    file,
    schemaFile(file, { ...schema, examples: [EXAMPLES[file]] }, answers),
  ])
  const { CommissionPlan = {}, ...parts } = planSchemas(AT)
  const plan = { title: 'Plan', ...CommissionPlan, examples: Object.values(readTemplates()) }
  return {
    ...Object.fromEntries([...entityFiles, ...envelopeFiles]),
    [PLAN_FILE]: schemaFile(PLAN_FILE, plan, parts),
    [WEBHOOK_FILE]: schemaFile(WEBHOOK_FILE, eventSchema(), {}),
  }
}
