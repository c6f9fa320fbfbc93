import { ORIGIN } from '../../src/docs/origin.ts'
import { ENTITIES } from './entities.ts'
import { envelopes, PARTS } from './envelopes.ts'
import { recorded } from './examples.ts'
import { type JsonSchema, types } from './types.ts'

const AT = '#/$defs/'

/** The types and parts that a schema refers to, and those that these refer to. */
function used(schema: JsonSchema, all: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const found = new Set<string>()
  const look = (text: string) => {
    for (const [, name = ''] of text.matchAll(/"#\/\$defs\/(\w+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      look(JSON.stringify(all[name]))
    }
  }
  look(JSON.stringify(schema))
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)))
}

/** What each envelope looked like, when a test saw one. */
const EXAMPLES: Record<string, unknown> = {
  bulk: recorded('sendForexCustomers', '200')[0]?.request,
  result: recorded('sendForexCustomers', '200')[0]?.answer,
  list: recorded('listForexCustomers', '200')[0]?.answer,
  problem: recorded('sendForexTransactions', '422')[0]?.answer,
}

function standing(file: string, schema: JsonSchema, all: Record<string, JsonSchema>): JsonSchema {
  const $defs = used(schema, all)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${ORIGIN}/schemas/v1/${file}.json`,
    ...schema,
    ...(Object.keys($defs).length > 0 && { $defs }),
  }
}

/** The schemas of all entities and envelopes, each by the name of its file. */
export function schemas(): Record<string, JsonSchema> {
  const entities = ENTITIES.map(({ file, schema, example }) => [
    file,
    standing(file, { ...schema(AT), examples: [example] }, types()),
  ])
  const around = Object.entries(envelopes(AT)).map(([file, schema]) => [
    file,
    standing(file, { ...schema, examples: [EXAMPLES[file]] }, PARTS),
  ])
  return Object.fromEntries([...entities, ...around])
}
