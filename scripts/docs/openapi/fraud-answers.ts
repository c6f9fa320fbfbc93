import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'
import { DAY, oneOf, orNull, TIME } from './shapes.ts'

// The schemas of responses about fraud rules.

const rule = documented('The id of the rule.')
const version = documented('The number of the version, from 1.', { type: 'integer', minimum: 1 })
const effective_from = documented('The first day whose records the version reads.', DAY)
const stored = {
  created_at: documented('When the version was put.', TIME),
  withdrawn_at: documented('When the version was withdrawn. Null if it was not.', orNull(TIME)),
}
const shown = {
  name: documented('The display name.'),
  severity: documented('How serious its cases are.', oneOf('low', 'medium', 'high')),
  action: documented('Whether its cases hold payouts.', oneOf('flag', 'hold')),
  disabled: documented('Whether it finds nothing.', { type: 'boolean' }),
}

const head = {
  rule,
  kind: documented('The kind of the rule.'),
  ...shown,
  in_force: documented('The version in force today. Null if all begin later or are withdrawn.', {
    type: ['integer', 'null'],
    minimum: 1,
  }),
}

/** Returns the schemas of responses about fraud rules, by the names of their components. */
export const fraudAnswers = (): Record<string, JsonSchema> => ({
  FraudRuleWarning: object({
    code: documented(
      'The code of the warning.',
      oneOf(
        'never_holds',
        'always_holds',
        'begins_later',
        'before_first_record',
        'later_version_applies',
        'overlapping_scopes',
        'unknown_affiliate',
      ),
    ),
    pointer: documented('A JSON Pointer (RFC 6901) into the body as sent.'),
    message: documented('What the author should know.'),
  }),
  FraudRuleHead: object({
    ...head,
    effective_from: documented(
      'The first day of the version in force; if none is, of the version that begins first.',
      DAY,
    ),
    words: documented(
      'That version in plain English: when it opens a case, and what else applies.',
      {
        type: 'array',
        items: { type: 'string' },
      },
    ),
  }),
  FraudRuleWithVersions: object({
    ...head,
    versions: documented('All versions, by number.', {
      type: 'array',
      items: object({ version, effective_from, ...shown, ...stored }),
    }),
  }),
  FraudRuleVersion: object({ rule, version, effective_from, terms: ref('FraudRule'), ...stored }),
  PutFraudRule: object({
    rule,
    version,
    effective_from,
    outcome: documented(
      'Whether a version was created. `unchanged`: the latest version has the same terms.',
      oneOf('created', 'unchanged'),
    ),
    warnings: documented('What is allowed but probably a mistake.', {
      type: 'array',
      items: ref('FraudRuleWarning'),
    }),
  }),
})
