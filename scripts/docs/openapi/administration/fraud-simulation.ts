import { FRESH_LIMITS } from '../../../../src/commission/statements/limits.ts'
import { BACK_TEST_LIMITS, LISTED_EVIDENCE } from '../../../../src/fraud/limits.ts'
import { documented, object } from '../../envelopes.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, ref } from '../operation.ts'
import { DAY, listed, orNull, TEXT } from '../shapes.ts'
import { ACCOUNT_PATH, COUNT, operation } from './operation.ts'

const day = (description: string) => documented(description, DAY)

const heldSums = (description: string) =>
  listed(
    description,
    object({
      currency: documented('The currency of the statements.'),
      amount: documented('The sum of the payable amounts.', {
        type: 'string',
        pattern: '^\\d+(\\.\\d+)?$',
      }),
      statements: documented('The number of statements.', COUNT),
    }),
  )

const subjectOf = (name: string, schema: JsonSchema) => object({ [name]: schema })

/** Whom a case is about. */
export const subject = documented('Whom the case is about.', {
  oneOf: [
    subjectOf('affiliate_id', TEXT),
    subjectOf('customer_id', TEXT),
    subjectOf('customer_ids', { type: 'array', items: TEXT, minItems: 2, maxItems: 2 }),
  ],
})

/** The figures of a finding. */
export const figures = listed(
  'What was compared on the last day with a new record.',
  object(
    {
      name: documented('The name of the figure.'),
      value: documented('Its value, a decimal.'),
      comparison: documented(
        'What the value is, compared with the threshold: `at_least` (≥), `at_most` (≤), `more_than` (>) or `less_than` (<).',
        { type: 'string', enum: ['at_least', 'at_most', 'more_than', 'less_than'] },
      ),
      threshold: documented('What it was compared with, a decimal.'),
      unit: documented('Its unit; of an amount its currency.'),
      made_of: listed(
        'The numbers of which the value and the threshold are made. Absent if there are none.',
        object(
          {
            name: documented('The name of the number.'),
            value: documented('Its value, a decimal.'),
            unit: documented('Its unit; of an amount its currency.'),
            from: day('The first day of its records. Absent if they are among those of the case.'),
            to: day('The last day of these records.'),
          },
          ['from', 'to'],
        ),
      ),
      left_out: listed(
        'Amounts that the figure leaves out, since there is no rate for them. Absent if there are none.',
        object({
          currency: documented('Their currency. Null if the records have none.', orNull(TEXT)),
          amounts: documented('The number of these amounts.', COUNT),
        }),
      ),
    },
    ['made_of', 'left_out'],
  ),
)

/** The schemas of the response to a back-test. */
export const FRAUD_SIMULATION_SCHEMAS: Record<string, JsonSchema> = {
  FraudSimulation: object({
    rule: documented('The rule.'),
    from: day('The first day.'),
    to: day('The last day.'),
    kind: documented('The kind of the rule.'),
    data: listed(
      'The cases that the rule would have opened, by day, affiliate and subject.',
      object({
        subject,
        affiliate_id: documented('The affiliate that had the customers.'),
        version: documented('The version that found it last. Null if it is that of the request.', {
          type: ['integer', 'null'],
          minimum: 1,
        }),
        action: documented('What the case does, by that version.', {
          type: 'string',
          enum: ['flag', 'hold'],
        }),
        status: documented('Whether it would still be open on the last day.', {
          type: 'string',
          enum: ['open', 'expired'],
        }),
        opened_for: day('The first day with a finding.'),
        last_evidence_for: day('The last day whose finding had a new record.'),
        figures,
        sentence: documented('The finding in one sentence.'),
        evidence: listed(
          `The first ${LISTED_EVIDENCE} of the records behind it.`,
          object({
            customer_id: documented('The customer. Null for a statement.', orNull(TEXT)),
            resource: documented('The resource of the record, or `statements`.'),
            id: documented('The id of the record.'),
            day: day('The day of the record.'),
            delivery_id: documented(
              'The delivery that last changed it. Null for a statement.',
              orNull(TEXT),
            ),
          }),
        ),
        evidence_total: documented('The number of all records behind it.', COUNT),
        would_hold: heldSums(
          'The statements of the affiliate that were payable while the case was open; with `reserve_percent` the latest of them: as few as reach the part.',
        ),
        outcome: documented(
          'What persons decided of a stored case of the same kind and subject, with days in common: `confirmed`, `dismissed`, or `reversed` if they confirmed it and ended the hold that it kept. Null if nothing was decided.',
          { enum: ['confirmed', 'dismissed', 'reversed', null] },
        ),
        also_in_force: documented(
          'Whether the version in force would have opened a case of the same subject, with days in common. Null if `compared_with` is null.',
          { type: ['boolean', 'null'] },
        ),
      }),
    ),
    opened: listed(
      'How many of these cases would have been opened for each day.',
      object({ day: day('The day.'), cases: documented('The number of cases.', COUNT) }),
    ),
    would_hold: heldSums(
      'What all cases of this page would have held. A statement that several cases hold counts once. Drafts are not counted, since they are not payable.',
    ),
    compared_with: {
      ...object({
        version: documented('The number of the version.', { type: 'integer', minimum: 1 }),
        cases: documented('The cases that it would have opened.', COUNT),
        same: documented('How many of them the tested version would have opened, too.', COUNT),
        would_hold: heldSums('What these cases would have held.'),
      }),
      type: ['object', 'null'],
      description:
        'What the stored version that is in force today would have done on the same days and for the affiliates of this page. Null if the request has no version, or if no version of this kind is in force.',
    },
    outcomes: {
      ...object({
        confirmed: documented('Those that were confirmed.', COUNT),
        dismissed: documented('Those that were dismissed.', COUNT),
        reversed: documented('Those that were confirmed, and whose kept hold was ended.', COUNT),
      }),
      description: 'How many of the cases of this page persons have decided, by `outcome`.',
    },
    affiliates: documented('The number of affiliates of this page.', COUNT),
    skipped: listed(
      'The affiliates that were not tested.',
      object({
        affiliate_id: documented('The affiliate.'),
        reason: documented(
          `Why it was left out: the rule reads more than ${FRESH_LIMITS.facts.toLocaleString('en')} of its records.`,
          { const: 'too_many_records' },
        ),
      }),
    ),
    meta: object({
      next_cursor: documented('The `cursor` of the next page. Null on the last.', orNull(TEXT)),
    }),
  }),
}

const BODY: JsonSchema = {
  type: 'object',
  properties: {
    from: documented('The first day.', { ...DAY, examples: ['2026-09-01'] }),
    to: documented(
      `The last day, which is over; at most ${BACK_TEST_LIMITS.days} days with the first.`,
      { ...DAY, examples: ['2026-10-31'] },
    ),
    version: {
      type: 'object',
      description:
        'A version to test on all these days, whether or not it is disabled: `kind`, `parameters`, `action`, `scope` and `reserve_percent`. Its `effective_from` has no effect. Without it the stored versions of the rule are tested, each on the days on which it applies.',
      properties: { kind: documented('The kind of the rule.', { examples: ['resets'], ...TEXT }) },
      required: ['kind'],
    },
  },
  required: ['from', 'to'],
  additionalProperties: false,
}

/** Describes the back-test of a version of a rule. */
export const fraudSimulation = (): Operation =>
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/fraud-rules/{rule}/simulate`,
    id: 'simulateFraudRule',
    summary: 'Test a fraud rule on past days',
    description: `Returns the cases that a rule would have opened if it had run after each day, and what they would have held; it stores nothing. A rule that is tested with a version of the request need not exist. A case is taken to stay undecided. A page has as many affiliates as the limits allow: at most ${BACK_TEST_LIMITS.affiliates}, with at most ${FRESH_LIMITS.facts.toLocaleString('en')} records that the rule reads. Send the same body with \`cursor\` until \`meta.next_cursor\` is null.`,
    parameters: ['back_test_cursor', 'simulated_affiliate'],
    body: { schema: BODY },
    answers: {
      200: {
        description: 'One page of cases.',
        schema: ref('FraudSimulation'),
        headers: ['Link'],
      },
    },
  })
