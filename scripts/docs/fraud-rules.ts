import * as v from 'valibot'
import type { Kind } from '../../src/fraud/kind.ts'
import { KINDS } from '../../src/fraud/kinds.ts'
import { MAX_DAYS } from '../../src/fraud/parameters.ts'
import { RULE_LIMITS, RULES_BY_KIND } from '../../src/fraud/rules.ts'
import { convertedTogether, type JsonSchema } from './types.ts'

/** The rules of a fraud rule that no keyword of JSON Schema expresses. */
const RULES = {
  duplicate:
    '`effective_from` occurs once. A scope names each affiliate once, and none beside `*`.',
  not_applicable: 'The kind is one of the vertical of the account and that of the other versions.',
  maximum: `A rule reads the records of at most ${MAX_DAYS} days.`,
  length: `A rule has at most ${RULE_LIMITS.bytes} bytes of JSON.`,
}

/** Returns the schema of a fraud rule by its name. `at` is the location of the names. */
export function fraudSchemas(at: string): Record<string, JsonSchema> {
  const [first, ...others] = RULES_BY_KIND.values()
  if (!first) return {}
  const { FraudRule = {} } = convertedTogether(
    { FraudRule: v.union([first, ...others]) },
    at,
    'input',
  )
  const description = 'A version of a fraud rule, by its kind. Unknown members are errors.'
  const kinds = Object.values(FraudRule).flatMap((one) => (Array.isArray(one) ? one : []))
  kinds.forEach((one, i) => {
    const kind = KINDS[i]
    if (kind) one.description = describeKind(kind)
  })
  return { FraudRule: { description, ...FraudRule, 'x-rules': RULES } }
}

/** Says when a rule of a kind opens a case by default, what it sees, and what it cannot see. */
function describeKind({ words, parameters, sees, cannotSee }: Kind): string {
  const { when, more = [] } = words(v.parse(parameters, {}))
  const sentences = [`With the defaults, it opens a case when ${when}.`, ...more]
  return [...sentences, `It sees: ${sees}`, `It cannot see: ${cannotSee}`].join(' ')
}
